"""Treatments: what is done to every record, so that all requirements hold."""
