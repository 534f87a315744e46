"""Analyses: whether what an analyst would do with the original comes out the same with the release."""
