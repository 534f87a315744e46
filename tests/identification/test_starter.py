"""The starter policy: always loads, and errs on the safe side."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.table.role import Role
from shoal.verbs.identify import identify


@given(
    columns=st.dictionaries(
        st.text(min_size=1, max_size=12).filter(str.strip),
        st.sampled_from([["a", "b"], [1, 2], [1.5, None], [True, False], [None, None]]),
        min_size=1,
        max_size=5,
    )
)
def test_it_loads_whatever_the_columns_are_called(columns):
    table = shoal.read({name: pa.array(cells) for name, cells in columns.items()})
    policy = shoal.Policy.parse(identify(table).starter("x.csv"))
    given_roles = policy.apply(table)
    assert set(given_roles.roles) == set(columns)
    policy.hierarchies(given_roles)


def test_roles_are_proposed_on_the_safe_side():
    demo = shoal.demo.hospital(patients=200, seed=3)
    policy = shoal.Policy.parse(identify(demo.patients).starter("patients.csv"))
    assert policy.data.subject == "patient_id"
    assert policy.data.household == "household_id"
    for name in ("mrn", "first_name", "last_name", "phone", "email"):
        assert policy.columns[name].role is Role.DIRECT
    for name in ("birth_date", "sex", "postcode"):
        assert policy.columns[name].role is Role.QUASI
    assert policy.columns["rare_disease"].role is Role.SENSITIVE


@pytest.mark.parametrize("name", ["population", "patients", "admissions"])
def test_the_demo_files(name):
    table = getattr(shoal.demo.hospital(patients=100, seed=5), name)
    policy = shoal.Policy.parse(identify(table).starter(name))
    assert policy.unlisted(table) == ()
    policy.hierarchies(policy.apply(table))


@pytest.mark.parametrize(
    ("purpose", "k", "suppression"), [("public", 11, 0.05), ("controlled", 5, 0.05), ("internal", 3, 0.02)]
)
def test_the_purpose_determines_the_requirements(purpose, k, suppression):
    data = {"age": [*range(20, 80)] * 5, "sex": ["f", "m"] * 150, "weight": [50.5 + n % 40 for n in range(300)]}
    found = shoal.identify(data, combinations=False)
    policy = found.policy(purpose=purpose)
    assert [model.k for _, _, model in policy.requirements()] == [k]
    assert policy.search.suppression == suppression
    assert policy.search.technique.kind == "local"
    assert bool(policy.context and policy.context.public) is (purpose == "public")
    assert policy.columns["weight"].role == ("insensitive" if purpose == "internal" else "quasi")
    assert shoal.anonymize(data, policy).met


def test_individuals_with_several_differing_records_are_recoded_alike():
    data = {"patient_id": [n // 2 for n in range(200)], "age": [20 + n % 50 for n in range(200)]}
    assert shoal.identify(data, combinations=False).policy().search.technique.kind == "local"


def test_an_unknown_purpose():
    with pytest.raises(shoal.errors.PolicyError, match="There is no purpose 'publik'"):
        shoal.identify({"age": [1, 2]}, combinations=False).policy(purpose="publik")
