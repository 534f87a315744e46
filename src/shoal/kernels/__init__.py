"""Primitives on arrays, in C and in numpy. They have no notion of tables."""
