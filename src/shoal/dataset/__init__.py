"""Datasets: tables that belong together, such as patients, their admissions and their laboratory results."""
