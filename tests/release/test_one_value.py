"""One release has one value of a measure: in anonymize and in compare, as it is or from its files, without a key."""

import random
from itertools import islice

import pytest

import shoal
from shoal.demo import hospital
from shoal.errors import ModelError, ReleaseError
from shoal.policy.search import Search
from shoal.verbs.compare import compare
from tests.effort import tiered

WAYS = {
    "global": {},
    "refined": {"refine": True},
    "cells": {"outliers": "cells"},
    "relocated": {"outliers": "relocate"},
    "counterfeits": {"outliers": "counterfeits"},
    "local": {"recoding": "local"},
    "mondrian": {"recoding": "mondrian"},
    "relaxed": {"recoding": "mondrian", "strict": False},
    "anywhere": {"recoding": "mondrian", "cuts": "anywhere"},
    "suppression": {"recoding": "suppression"},
    "microaggregation": {"recoding": "microaggregation"},
    "groups on levels": {"recoding": {"kind": "microaggregation", "intervals": "hierarchy"}},
    "subsets": {"recoding": "subsets"},
    "sampled": {"sample": 0.7},
    "sampled locally": {"sample": 0.7, "recoding": "local"},
}
TRUE = set(WAYS) - {
    "relocated",
    "counterfeits",
    "sampled",
    "sampled locally",
}  # all are there, and every cell is true of its record
TABLES = {
    "kroes/adult.csv": 300,
    "kroes/diabetes.csv": 300,
    "kroes/cervical.csv": 789,
    "menten/df_500_rows/stage_1_df_mock_500.csv": 500,
    "pycanon/drug_type.csv": 200,
    "pycanon/healthcare-dataset-stroke-data.csv": 400,
    "casc/CASCrefmicrodata.csv": 200,
    "casc/EIA.csv": 300,
    "sdtm_pilot/dm.csv": 306,
    "arx-adult/adult.csv": 400,
}


def check(path, policy, tmp_path, way):
    """Compare a release with its original, as it is and from its files, with and without what the owner has."""
    release = shoal.anonymize(path, policy)
    saved = release.save(tmp_path / "out.csv")
    found = [compare(path, release), compare(path, saved[0], policy)]
    assert all(one.matched.startswith("by the record mapping that anonymize saved") for one in found)
    for one in found:
        for name, measured in release.quality.items():
            assert one.quality[name].total.value == pytest.approx(measured.total.value, rel=1e-12, abs=0), name
    for file in saved[2:]:
        file.unlink()
    seen = compare(path, saved[0], policy)
    if way not in TRUE:
        assert seen.matched is None or seen.matched.startswith("by")
        return
    assert seen.matched in {"by content", "by position"}
    for name in ("loss", "precision", "discernibility", "average-class-size", "suppressed-records"):
        assert seen.quality[name].total.value == pytest.approx(release.quality[name].total.value, rel=1e-12, abs=0)


def proposed(path, way, suppression=0.1):
    policy = shoal.identify(path).policy()
    said = policy.search.model_dump(exclude_unset=True) | {
        "recoding": "global",
        "suppression": suppression,
        **WAYS[way],
    }
    return policy.model_copy(update={"search": Search.model_validate(said)})


@pytest.mark.parametrize("way", WAYS)
def test_anonymize_and_compare_agree(way, tmp_path):
    path = tmp_path / "patients.csv"
    table = hospital(patients=150).patients
    columns = ["sex", "birth_date", "postcode", "ethnicity", "depression", "hypertension"]
    shoal.write(shoal.read(table.to_frame("pyarrow").select(columns)), path)
    policy = shoal.Policy.parse("""
        version = 1
        columns.sex = "quasi"
        columns.birth_date = { role = "quasi", hierarchy = { kind = "date", units = ["year", "decade"] } }
        columns.postcode = { role = "quasi", hierarchy = { kind = "prefix", keep = [2, 1], length = 5 } }
        columns.ethnicity = { role = "quasi", hierarchy = { kind = "frequency", keep = [4, 2, 1] } }
        columns.depression = "sensitive"
        columns.hypertension = "insensitive"
        require = [{ model = "k-anonymity", k = 3 }]
    """)
    policy = policy.model_copy(update={"search": Search.model_validate({"suppression": 0.3, **WAYS[way]})})
    check(path, policy, tmp_path, way)


SLOW = {
    ("arx-adult/adult.csv", "local"),
    ("casc/CASCrefmicrodata.csv", "subsets"),
    ("casc/CASCrefmicrodata.csv", "sampled locally"),
}  # twenty seconds each
CASES = [(name, way) for place, name in enumerate(TABLES) for way in list(WAYS)[place % 4 :: 4]]
CASES = [case for case in CASES if case not in SLOW]
HALF = CASES[::2]


@pytest.mark.parametrize(("name", "way"), tiered([*HALF, *CASES[1::2]], quick=0, exhaustive=len(HALF)))
def test_real_tables(shared, name, way, tmp_path):
    source, path = shared / "data" / name, tmp_path / "original.csv"
    with source.open(encoding="utf-8-sig") as lines:
        head, *rows = list(lines)
    random.Random(1).shuffle(rows)
    path.write_text(head + "".join(islice(rows, TABLES[name])), encoding="utf-8")
    try:
        check(path, proposed(path, way), tmp_path, way)
    except (ModelError, ReleaseError) as error:  # too many schemes or columns, or too many would be left out
        assert error.hint is not None
