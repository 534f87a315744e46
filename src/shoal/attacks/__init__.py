"""Attacks: the success of an adversary against a release, one module per attack."""
