"""Datasets: tables that belong together, such as patients, their admissions, and what the laboratory found."""
