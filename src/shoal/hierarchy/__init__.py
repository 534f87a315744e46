"""Hierarchies: ladders of ever coarser values, one file for each kind; a new kind is found by being here."""
