"""A generalised quasi-identifier whose values follow from other released columns is refused."""

import numpy as np
import pytest

import shoal
from shoal.errors import PolicyError


def patients(number=600):
    rng = np.random.default_rng(1)
    height, weight = rng.normal(170, 10, number).round(), rng.normal(75, 12, number).round(1)
    town = rng.integers(0, 12, number)
    return {
        "height": height,
        "weight": weight,
        "bmi": (weight / (height / 100) ** 2).round(1),
        "district": [f"d{code // 4}" for code in town],
        "town": [f"t{code}" for code in town],
        "sex": [("f", "m")[code] for code in rng.integers(0, 2, number)],
        "dx": [f"x{code}" for code in rng.integers(0, 5, number)],
    }


def policy(roles, search=None, **columns):
    named = {name: {"role": role} for name, role in roles.items()}
    named["height"]["hierarchy"] = {"kind": "interval", "widths": [10, 50]}
    for name, more in columns.items():
        named[name] |= more
    return shoal.Policy.model_validate(
        {
            "version": 1,
            "columns": named,
            "require": [{"model": "k-anonymity", "k": 11}],
            "search": {"suppression": 0.1, **(search or {})},
        }
    )


ROLES = {"height": "quasi", "sex": "quasi", "weight": "insensitive", "bmi": "insensitive", "dx": "sensitive"}


def test_a_height_that_follows_from_weight_and_body_mass_index_is_refused():
    with pytest.raises(
        PolicyError,
        match="'height' is generalised, but its values follow from 'weight', 'bmi', which the release shows",
    ):
        shoal.anonymize(patients(), policy(ROLES))


@pytest.mark.parametrize(
    ("roles", "search", "columns"),
    [
        ({**ROLES, "bmi": "ignore"}, {}, {}),
        ({**ROLES, "bmi": "quasi"}, {"suppression": 1.0}, {}),
        (ROLES, {"derivable": ["height"]}, {}),
        (ROLES, {}, {"bmi": {"perturb": {"kind": "noise", "share": 0.5}}}),
    ],
)
def test_what_is_accepted(roles, search, columns):
    roles = {name: role for name, role in roles.items() if role != "ignore"}
    columns = {**columns, **({"bmi": {"hierarchy": {"kind": "suppression"}}} if roles.get("bmi") == "quasi" else {})}
    release = shoal.anonymize(patients(), policy(roles, search, **columns))
    assert release.table.records


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_a_value_that_goes_with_each_value_of_another_column_is_refused(role):
    roles = {"height": "quasi", "district": "quasi", "town": role}
    suppressed = {"district": {"hierarchy": {"kind": "suppression"}}}
    levels = {"levels": {"district": [1, 1]}}
    with pytest.raises(PolicyError, match="'district' is generalised, but its values follow from 'town'"):
        shoal.anonymize(patients(), policy(roles, levels, **suppressed))
    exact = {"levels": {"district": [0, 0]}}
    assert shoal.anonymize(patients(), policy(roles, exact, **suppressed)).table.records


def test_exceptions_do_not_protect_the_others():
    data = patients()
    data["town"][:30] = ["t0"] * 30
    roles = {"height": "quasi", "district": "quasi", "town": "insensitive"}
    with pytest.raises(PolicyError, match="follow from 'town'"):
        shoal.anonymize(
            data, policy(roles, {"levels": {"district": [1, 1]}}, district={"hierarchy": {"kind": "suppression"}})
        )


def test_an_exact_quasi_identifier_may_tell_a_generalised_one():
    """Individuals of a class share its value, so that it adds nothing to the class."""
    roles = {"height": "quasi", "district": "quasi", "town": "quasi"}
    hidden = {name: {"hierarchy": {"kind": "suppression"}} for name in ("district", "town")}
    levels = {"levels": {"district": [1, 1], "town": [0, 0]}}
    assert shoal.anonymize(patients(), policy(roles, levels, **hidden)).table.records


def test_columns_in_a_table_of_their_own_tell_nothing():
    roles = {"height": "quasi", "district": "quasi", "town": "sensitive"}
    search = {"levels": {"district": [1, 1]}, "publish": {"kind": "permutation"}}
    asked = policy(roles, search, district={"hierarchy": {"kind": "suppression"}})
    asked = asked.model_copy(update={"require": policy(roles).require})
    assert len(shoal.anonymize(patients(), asked).tables) == 2


def test_only_quasi_identifiers_can_be_accepted():
    with pytest.raises(PolicyError, match="Column 'weight' under derivable is not a quasi-identifier"):
        shoal.anonymize(patients(), policy(ROLES, {"derivable": ["weight"]}))
