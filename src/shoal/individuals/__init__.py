"""Individuals: the privacy of every single person, over all combinations of what an adversary may know (Kroes 2021)."""
