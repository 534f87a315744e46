"""Privacy of single individuals, over all combinations of attributes that an adversary may know (Kroes 2021)."""
