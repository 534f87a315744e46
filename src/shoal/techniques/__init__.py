"""Techniques that transform the records of a table until all requirements are met."""
