"""The public functions of shoal: one file for each, with its name."""
