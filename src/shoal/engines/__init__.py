"""Engines count rows: one engine for each place that can hold them, behind one protocol."""
