"""Databases, one module per kind; every module of this package is registered automatically."""
