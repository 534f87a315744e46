"""The report: one document that a data owner signs and a regulator can read."""
