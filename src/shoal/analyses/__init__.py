"""Analyses: agreement of results between the original and the release."""
