"""The policy file, with one module per section."""
