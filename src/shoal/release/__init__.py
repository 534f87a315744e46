"""Release: the table that goes out, with the evidence for it."""
