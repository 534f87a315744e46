"""The public manifest is a function of the released table, the policy, and what the owner chooses to publish."""

import json
from collections.abc import Iterator

import numpy as np
import pytest

import shoal
from tests.effort import tiered

POLICY = """
version = 1
columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 40] }} }}
columns.sex = "quasi"
columns.dx = "sensitive"
require = [{{ model = "k-anonymity", k = 3 }}{more}]
search = {{ suppression = 0.2, {how} }}
{publish}
"""
WAYS = (
    "levels = { age = [0, 1] }",
    "refine = true",
    'recoding = "local"',
    'recoding = "mondrian"',
    'outliers = "cells"',
)
MODELS = (
    "",
    ', { model = "t-closeness", column = "dx", t = 0.9 }',
    ', { model = "alpha-k-anonymity", column = "dx", alpha = 1, k = 3 }',
)


def released(data, policy, folder):
    """Return the bytes of a release, its public manifest, and which records were left out."""
    release = shoal.anonymize(data, policy)
    table, manifest, *_ = release.save(folder / "r.csv", force=True)
    return table.read_bytes(), manifest.read_bytes(), np.flatnonzero(release.became(len(data["age"])) < 0)


def pairs(folder, publish="", first=0) -> Iterator[tuple[bytes, bytes]]:
    """Yield the manifests of two tables that differ in who was left out, and give the same release bytes."""
    for seed in range(first, first + 10**6):
        rng = np.random.default_rng(seed)
        groups, alone = rng.integers(4, 7, 3), int(rng.integers(1, 4))
        size = int(groups.sum()) + alone
        data = {
            "age": [*np.repeat([25, 35, 55], groups).tolist(), *rng.permutation(np.arange(100, 140))[:alone].tolist()],
            "sex": [*np.repeat(["f", "m", "f"], groups).tolist(), *rng.choice(["f", "m"], alone).tolist()],
            "dx": rng.choice(["flu", "ms", "gout"], size).tolist(),
        }
        how, more = WAYS[seed % len(WAYS)], MODELS[seed % len(MODELS)]
        policy = shoal.Policy.parse(POLICY.format(how=how, more=more, publish=publish))
        try:
            one, first_manifest, gone = released(data, policy, folder)
            other = {name: list(held) for name, held in data.items()}
            for record in gone.tolist():
                other["dx"][record] = str(rng.choice(["flu", "ms", "gout"]))
                other["age"][record] = int(rng.integers(100, 140))
            two, second_manifest, _ = released(other, policy, folder)
        except shoal.ShoalError:
            continue
        if one == two and other != data:
            yield first_manifest, second_manifest


@pytest.mark.parametrize("number", tiered([10, 50], quick=1))
def test_equal_releases_have_equal_manifests(number, tmp_path):
    found = pairs(tmp_path, first=number)
    for _ in range(number):
        one, two = next(found)
        assert one == two


@pytest.mark.parametrize("chosen", [True, False])
def test_only_what_the_owner_publishes_is_told(chosen, tmp_path):
    data = {"age": [31] * 20 + [33] * 15 + [71] * 2 + [22], "sex": ["f"] * 38, "dx": ["flu", "ms"] * 19}
    said = f"publish = {{ suppressed = {str(chosen).lower()} }}"
    policy = shoal.Policy.parse(POLICY.format(how="levels = { age = [0, 0] }", more="", publish=said))
    release = shoal.anonymize(data, policy)
    assert release.suppressed == 3
    manifest = json.loads(release.save(tmp_path / "r.csv")[1].read_text())
    assert ("published" in manifest) == chosen
    if chosen:
        assert manifest["published"]["suppressed"] == {"about": 0, "rounded_to": 10}
    assert manifest["smallest_class"] == 15
    assert manifest["quality"] == {"discernibility": 20**2 + 15**2, "average-class-size": 17.5}
    assert {"suppressed", "scheme", "heights", "records_on_levels"}.isdisjoint(manifest)
