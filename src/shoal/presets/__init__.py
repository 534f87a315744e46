"""Presets: named sets of requirements, each with its source."""
