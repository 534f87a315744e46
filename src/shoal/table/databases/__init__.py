"""Databases, one file for each kind; a new one is found by being here."""
