"""Recodings: how a transformed table relates to its original."""
