"""Privacy models, one module each."""
