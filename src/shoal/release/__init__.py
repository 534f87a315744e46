"""Release: the released tables, with the evidence that they meet the requirements."""
