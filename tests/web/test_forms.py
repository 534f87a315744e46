"""Forms of settings that have options of their own: techniques by name, and their options beside them."""

import pytest

from shoal.policy.search import Search
from shoal.web.forms import fields, filled_in


def asked(**values):
    return fields(Search, values)


def test_a_technique_is_chosen_by_name_and_its_options_are_fields():
    by_name = {field.name: field for field in asked(recoding="mondrian", strict=False)}
    assert by_name["recoding"].kind == "choice"
    assert by_name["recoding"].value == "mondrian"
    assert by_name["recoding.mondrian.strict"].label == "Strict cuts (mondrian)"
    assert by_name["recoding.mondrian.strict"].value is False  # stands beside the technique
    assert by_name["recoding.mondrian.cuts"].choices == ("anywhere", "hierarchy")
    assert not {"strict", "cuts"} & set(by_name)  # one place for each setting


@pytest.mark.parametrize("before", [{}, {"recoding": "mondrian", "strict": False}, {"recoding": {"kind": "local"}}])
@pytest.mark.parametrize(
    ("sent", "search"),
    [
        ({"recoding": ["global"]}, {}),
        ({"recoding": ["local"]}, {"recoding": "local"}),
        (
            {"recoding": ["mondrian"], "recoding.mondrian.cuts": ["anywhere"], "shown:recoding.mondrian.strict": ["1"]},
            {"recoding": {"kind": "mondrian", "strict": False, "cuts": "anywhere"}},
        ),
    ],
)
def test_what_is_sent_is_what_the_policy_says(before, sent, search):
    entered = filled_in(asked(**before), sent)
    assert entered == search
    assert Search.model_validate(entered).technique.kind == sent["recoding"][0]


def test_what_is_not_sent_stays_as_it_is():
    before = {"recoding": {"kind": "mondrian", "strict": False}, "suppression": 0.1}
    assert filled_in(asked(**before), {}) == before
