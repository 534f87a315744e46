"""Generalisation hierarchies, one module per kind; modules in this package are registered automatically."""
