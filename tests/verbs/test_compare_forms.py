"""Forms of a release side by side: what is comparable, and what is refused."""

import numpy as np
import pytest

import shoal
from shoal.errors import PolicyError
from tests.command_line import run


def data(number=600):
    """Return individuals whose diagnosis goes with their job half the time."""
    rng = np.random.default_rng(3)
    job = rng.integers(0, 5, number)
    return {
        "age": rng.integers(20, 60, number).tolist(),
        "job": [f"job {place}" for place in job],
        "dx": [f"d{value}" for value in np.where(rng.random(number) < 0.4, job, rng.integers(0, 8, number))],
    }


POLICY = """
version = 1
columns = { age = "quasi", job = "quasi", dx = "sensitive" }
"""


def test_all_forms_limit_the_probability_of_a_value():
    found = shoal.compare_forms(data(), shoal.Policy.parse(POLICY), l=3, queries=50)
    assert [each.form for each in found.figures] == ["table", "buckets", "slicing"]
    assert found.l == 3
    in_one, buckets, slicing = found.figures
    assert in_one.tables == 1
    assert (buckets.tables, buckets.technique) == (2, None)
    assert buckets.unique > in_one.unique == 0
    assert slicing.unique is None
    assert buckets.inferred.low > buckets.control  # something is learned
    assert buckets.control < 1 / 3 + 0.06
    again = shoal.compare_forms(data(), shoal.Policy.parse(POLICY), l=3, queries=50)
    assert again.to_dict() == found.to_dict()
    assert len(found.to_frame("pyarrow")) == 3


def test_requirements_on_quasi_identifiers_hold_in_every_form():
    policy = shoal.Policy.parse(
        POLICY + 'require = [{ model = "k-anonymity", k = 5 }, { model = "l-diversity", l = 2 }]'
    )
    found = shoal.compare_forms(data(), policy, queries=20)
    assert found.l == 2
    assert all(each.technique is not None for each in found.figures)
    assert found.figures[1].unique == 0


def test_what_is_not_possible_is_named():
    found = shoal.compare_forms(data(), shoal.Policy.parse(POLICY), l=8, queries=20)
    assert "buckets" in found.left_out
    assert "Not possible: buckets. Among the released individuals, a value of column 'dx' is too frequent" in str(found)
    noisy = POLICY.replace('age = "quasi"', 'age = { role = "quasi", perturb = { kind = "noise", share = 0.2 } }')
    with pytest.raises(PolicyError, match="'age' is perturbed, so forms of the release cannot be compared"):
        shoal.compare_forms(data(), shoal.Policy.parse(noisy))
    with pytest.raises(PolicyError, match="the policy names 0"):
        shoal.compare_forms(data(), shoal.Policy.parse("version = 1\ncolumns.age = 'quasi'"))


def test_on_the_command_line(tmp_path):
    shoal.write(shoal.read(data()), tmp_path / "data.csv")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    done = run(
        "compare-forms", "data.csv", "-p", "policy.toml", "-l", "3", "--queries", "20", "--pictures", ".", cwd=tmp_path
    )
    assert "Forms of a release with l = 3 for 'dx' (600 individuals)" in done.stdout
    assert (tmp_path / "forms.svg").exists()
