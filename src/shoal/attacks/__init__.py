"""Attacks: what an adversary really achieves against a release. One file for each."""
