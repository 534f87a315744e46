"""File formats, one module each; every module of this package is registered automatically."""
