"""Perturbations: random or coarser values for single columns, each with its guarantee."""
