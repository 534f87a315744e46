"""Privacy models: one file each."""
