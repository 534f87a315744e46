"""Separation: sensitive values in a table of their own, so that a release does not state whose they are."""
