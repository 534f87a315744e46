"""The engine in memory: what its protocol promises."""

import numpy as np

import shoal
from shoal.engines import profiles
from shoal.engines.protocol import Engine


def test_it_keeps_the_protocol():
    engine: Engine = shoal.read({"a": [1, 2]}).engine
    assert engine.rows == 2


def test_no_columns_is_one_row_that_all_share():
    assert shoal.read({"a": [1, 2, 3]}).distinct([]).counts.tolist() == [3]


def test_sets_that_share_a_hash_are_still_told_apart(monkeypatch):
    """The first hash is made useless; the answer must not change."""
    honest, tried = profiles._signatures, []

    def useless_at_first(starts, members, salt):
        tried.append(salt)
        return np.zeros(len(starts) - 1, np.uint64) if salt == 1 else honest(starts, members, salt)

    monkeypatch.setattr(profiles, "_signatures", useless_at_first)
    table = shoal.read({"id": [1, 1, 2, 2, 3], "x": ["a", "b", "a", "c", "a"]}).assign(subject="id")
    assert table.profiles(["x"]).counts.tolist() == [1, 1, 1]
    assert tried == [1, 2]
