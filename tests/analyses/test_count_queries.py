"""Count queries: estimates from a release, worked out by hand and for releases that tell everything or nothing."""

import numpy as np
import pytest

import shoal
from shoal.analyses.count_queries import _estimate, _Query, _Shown, query_errors
from shoal.errors import RecodingError


def table(**columns):
    return shoal.read(columns).assign(quasi=[name for name in columns if name != "dx"], sensitive="dx")


ORIGINAL = table(age=[31, 34, 38, 71], sex=list("ffmm"), dx=["flu", "ms", "flu", "gout"])


def query(**values):
    """Return the query for given values of columns."""
    return _Query({name: np.isin(ORIGINAL[name].values.to_pylist(), chosen) for name, chosen in values.items()})


def estimated(asked, *tables):
    return _estimate(asked, [_Shown(ORIGINAL, shoal.read(columns), "bucket", {}) for columns in tables])


def test_a_generalised_cell_has_each_value_with_the_same_probability():
    coarse = {"age": ["30-39"] * 3 + ["71"], "sex": ["*"] * 4, "dx": ["flu", "ms", "flu", "gout"]}
    assert query(age=[31], dx=["flu"]).count(ORIGINAL) == 1
    assert estimated(query(age=[31], dx=["flu"]), coarse) == pytest.approx(2 / 3)
    assert estimated(query(age=[31, 34], sex=["f"], dx=["ms"]), coarse) == pytest.approx(2 / 3 / 2)
    assert estimated(query(age=[71]), coarse) == 1


def test_tables_are_independent_within_a_bucket():
    first = {"age": [31, 34, 38, 71], "sex": list("ffmm"), "bucket": [1, 1, 2, 2]}
    second = {"bucket": [1, 1, 2, 2], "dx": ["flu", "ms", "flu", "gout"]}
    assert estimated(query(age=[31], dx=["flu"]), first, second) == pytest.approx(1 / 2)
    assert estimated(query(sex=["f"], dx=["flu", "ms"]), first, second) == pytest.approx(2)
    ages, others = {name: first[name] for name in ("age", "bucket")}, {**second, "sex": list("ffmm")}
    assert estimated(query(age=[31, 38], sex=["m"], dx=["flu"]), ages, others) == pytest.approx(1 / 2)


def test_the_original_has_no_error_and_suppressed_records_do():
    rng = np.random.default_rng(1)
    data = {"age": rng.integers(20, 90, 500).tolist(), "sex": rng.choice(["f", "m", None], 500).tolist()}
    data["dx"] = rng.choice(list("abc"), 500).tolist()
    whole = table(**data)
    assert query_errors(whole, [whole], "bucket", {}).to_dict()["mean"] == 0
    half = table(**{name: values[:250] for name, values in data.items()})
    assert 0.3 < query_errors(whole, [half], "bucket", {}).median < 0.7


def test_queries_select_about_a_twentieth_of_independent_columns():
    rng = np.random.default_rng(2)
    data = table(
        **{name: rng.integers(0, 40, 4000).tolist() for name in ("a", "b", "c")}, dx=rng.integers(0, 40, 4000).tolist()
    )
    draws = np.random.default_rng(3)
    shares = [_Query.drawn(data, ("a", "b", "c", "dx"), draws).count(data) / 4000 for _ in range(200)]
    assert 0.04 < np.mean(shares) < 0.09
    assert min(shares) > 0


def test_the_verb_reads_every_form(tmp_path):
    rng = np.random.default_rng(4)
    data = {"age": rng.integers(20, 60, 400).tolist(), "sex": rng.choice(["f", "m"], 400).tolist()}
    data["dx"] = rng.choice(list("abcdef"), 400).tolist()
    for kind in ("buckets", "slicing"):
        policy = shoal.Policy.parse(
            "version = 1\ncolumns = { age = 'quasi', sex = 'quasi', dx = 'sensitive' }\n"
            f"search.publish = {{ kind = '{kind}', l = 3, identities_public = true }}"
        )
        release = shoal.anonymize(data, policy)
        release.save(tmp_path / "out.csv", force=True)
        error = shoal.query_error(data, release, number=50)
        files = shoal.query_error(data, tmp_path / "out.csv", policy, number=50)
        assert error.to_dict() == files.to_dict()
        assert 0 < error.median < 0.6
        assert "random count queries" in str(error)
    with pytest.raises(RecodingError, match="At least one query"):
        shoal.query_error(data, data, quasi="age", number=0)
    with pytest.raises(RecodingError, match="No quasi-identifiers are named"):
        shoal.query_error(data, data, quasi=[])
