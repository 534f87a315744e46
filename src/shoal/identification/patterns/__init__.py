"""Patterns of identifying values: one file for each pattern."""
