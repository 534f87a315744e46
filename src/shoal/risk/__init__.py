"""Disclosure risks: re-identification and attribute disclosure."""
