"""The time of a search, told from trials in samples."""

from time import process_time

import numpy as np
import pytest

import shoal
from shoal.release import trial
from shoal.release.case import Case
from shoal.release.making import treatment_of
from shoal.release.trial import Timed, search_seconds
from shoal.verbs.plan import long_search

POLICY = {
    "version": 1,
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"kind": "interval", "widths": [5, 10, 20]}},
        "place": {"role": "quasi", "hierarchy": {"kind": "interval", "widths": [10, 50]}},
        "dx": {"role": "sensitive"},
    },
    "require": [{"model": "k-anonymity", "k": 5}],
    "search": {"recoding": "local", "suppression": 0.05},
}


def table(records):
    rng = np.random.default_rng(5)
    columns = {"age": rng.integers(0, 90, records), "place": rng.integers(0, 200, records)}
    return shoal.read({**columns, "dx": rng.choice(["a", "b", "c"], records)})


def search(table, policy):
    began = process_time()
    treatment_of(Case.of(table, policy).searchable(), 1, lambda step: None)  # noqa: ARG005 - a hook
    return process_time() - began


def test_a_small_table_is_searched_as_a_whole(monkeypatch):
    policy, small = shoal.Policy.model_validate(POLICY), table(400)
    fractions = []
    timed = trial._timed
    monkeypatch.setattr(trial, "_timed", lambda *asked: fractions.append(asked[2]) or timed(*asked))
    assert search_seconds(policy.apply(small), policy, 400) > 0
    assert fractions == [1.0]


def test_samples_grow_until_the_time_is_over(monkeypatch):
    policy, whole = shoal.Policy.model_validate(POLICY), table(32_000)
    times = {500: 0.1, 2_000: 0.4, 8_000: 1.6}
    monkeypatch.setattr(trial, "_timed", lambda _, __, share, ___: Timed(round(32_000 * share), times[32_000 * share]))
    assert search_seconds(policy.apply(whole), policy, 32_000, most=4) == pytest.approx(6.4)


def test_a_trial_that_takes_too_long_is_stopped():
    policy, whole = shoal.Policy.model_validate(POLICY), table(4_000)
    began = process_time()
    told = search_seconds(policy.apply(whole), policy, 4_000, most=0.001)
    assert told >= 0.001  # the first sample took more than a millisecond
    assert process_time() - began < 5


def test_searches_that_are_limited_take_no_longer(monkeypatch):
    columns = {f"x{number}": {"role": "quasi", "hierarchy": {"kind": "suppression"}} for number in range(23)}
    search = {"seconds": 7, "recoding": "global"}
    policy = shoal.Policy.model_validate({**POLICY, "columns": columns, "search": search})
    data = shoal.read({name: np.arange(600) % 7 for name in columns})
    monkeypatch.setattr(trial, "_timed", lambda *_: Timed(1, 5.0))
    assert search_seconds(policy.apply(data), policy, 600) == 7


def test_nothing_is_told_about_what_cannot_be_searched():
    asked = {**POLICY, "require": [{"model": "k-anonymity", "k": 5_000}]}
    policy = shoal.Policy.model_validate(asked)
    assert search_seconds(policy.apply(table(600)), policy, 600) is None
    found = shoal.plan(table(600), policy)
    assert [stage.name for stage in found.stages][3] == "search"


def test_short_searches_are_not_tried():
    assert long_search(table(600), shoal.Policy.model_validate(POLICY)) is None


def test_the_time_of_persons_with_several_records_is_about_right():
    """Within a factor of ten here, because other work may run beside; within three on a quiet machine."""
    policy = shoal.Policy.model_validate({**POLICY, "data": {"subject": "who"}, "search": {"suppression": 0.05}})
    whole = table(6_000)
    frame = {name: whole.to_frame("pyarrow").column(name) for name in whole.names}
    whole = policy.apply(shoal.read({**frame, "who": np.arange(6_000) // 2}))
    true, told = search(whole, policy), search_seconds(whole, policy, len(whole.distinct(whole.quasi)))
    assert true / 10 < told < 10 * true
