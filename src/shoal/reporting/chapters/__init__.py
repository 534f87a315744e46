"""Chapters of a report, one module per chapter. Each declares its position."""
