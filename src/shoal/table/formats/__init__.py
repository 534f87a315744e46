"""File formats, one file for each; a new one is found by being here."""
