"""Risks: what an adversary achieves."""
