"""The policy file: each of its sections in a file of its own."""
