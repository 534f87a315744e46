"""Arrays in, arrays out: the primitives in C with their numpy twins. Knows nothing of tables."""
