"""Identification: what a column is, from evidence of several kinds, and how many columns need to be treated."""
