"""Search: the optimal scheme, the frontier between risk and quality, and recodings that differ by class."""
