"""Search: the best scheme of all, the frontier between risk and quality, and recodings that differ by class."""
