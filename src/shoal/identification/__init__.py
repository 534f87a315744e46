"""Identification: the role of each column, from several kinds of evidence, and the number of columns to generalise."""
