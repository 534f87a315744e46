"""Qualities: what a transformation cost, one file for each measure; a new one is found by being here."""
