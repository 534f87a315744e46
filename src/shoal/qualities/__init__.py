"""Quality measures of a transformation, one module each; modules in this package are registered automatically."""
