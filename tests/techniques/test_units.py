"""Units: records with the same quasi-identifiers are never treated in different ways."""

import numpy as np
import pytest

import shoal
from shoal.techniques.treatment import Treatment

POLICY = shoal.Policy.parse("""
version = 1
columns.a = { role = "quasi", hierarchy = { kind = "interval", widths = [2] } }
columns.b = { role = "quasi", hierarchy = { kind = "interval", widths = [2] } }
columns.s = "sensitive"
require = [{ model = "alpha-k-anonymity", alpha = 0.67, k = 3 }]
search = { recoding = "local", suppression = 0 }
""")


@pytest.mark.parametrize("seed", [43, 170, 184, 281, 285])
def test_leftovers_with_the_same_quasi_identifiers_join_one_class(seed, monkeypatch):
    combine = Treatment.of_units.__func__
    treated = []

    def recording(cls, units, sets, left):
        treated.append((units.of_row, left, [shown for _, shown, _ in sets]))
        return combine(cls, units, sets, left)

    monkeypatch.setattr(Treatment, "of_units", classmethod(recording))
    rng = np.random.default_rng(seed)
    number = int(rng.integers(12, 40))
    columns = {name: rng.integers(0, 5, number).tolist() for name in "ab"}
    shoal.anonymize({**columns, "s": rng.choice(list("xyz"), number, p=[0.5, 0.3, 0.2]).tolist()}, POLICY)
    for of_row, left, shown in treated:
        rows = len(np.unique(of_row))
        assert len(np.unique(np.stack([of_row, left, *shown]), axis=1)[0]) == rows
