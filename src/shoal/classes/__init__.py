"""Classes: the equivalence classes of a table under its quasi-identifiers."""
