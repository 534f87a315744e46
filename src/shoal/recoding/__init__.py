"""Recodings: the relation between a transformed table and its original."""
