"""Disclosure by some known records of a person, against a slow search."""

from collections import defaultdict
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.attacks.event_inference import EventInference
from shoal.attacks.events import Events, drawn_events
from shoal.attacks.scene import Scene
from tests.effort import examples

ROLES = {"subject": "who", "quasi": ["day", "ward"], "sensitive": "dx"}


def stays(people, seed, *, values="xyz"):
    """Return one to four stays of random people."""
    seeded = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), seeded.integers(1, 5, people))
    return {
        "who": [f"p{person}" for person in who],
        "day": seeded.integers(0, 4, len(who)).tolist(),
        "ward": seeded.choice(["A", "B"], len(who)).tolist(),
        "dx": seeded.choice([*values], len(who)).tolist(),
    }


def scene_of(data):
    table = shoal.read(data)
    return Scene.of(table.assign(**ROLES), table, truth=np.arange(len(data["who"])))


def slow(data, scene, known):
    """Return, for each target, whether all candidates have the true value, and the probability by chance."""
    rows = [dict(zip(data, cells, strict=True)) for cells in zip(*data.values(), strict=True)]
    facts, values = defaultdict(set), defaultdict(set)
    for row in rows:
        facts[row["who"]].add((row["day"], row["ward"]))
        values[row["who"]].add(row["dx"])
    people = scene.having("dx").drawn(1000, scene.rng("event-inference dx"))
    outcomes = []
    for record, events in zip(people.records.tolist(), drawn_events(scene, people).tolist(), strict=True):
        person, value = rows[record]["who"], rows[record]["dx"]
        seen = [(rows[event]["day"], rows[event]["ward"]) for event in events[:known] if event >= 0]
        has = {other: sum(fact in facts[other] for fact in seen) for other in facts}
        best = [other for other in has if has[other] == max(has.values())]
        others, having = len(best) - 1, sum(value in values[other] for other in facts) - 1
        chance = Fraction(comb(having, others), comb(len(facts) - 1, others)) if having >= others else Fraction(0)
        assert person in best
        outcomes.append((all(value in values[other] for other in best), chance))
    return outcomes


@given(people=st.integers(2, 25), seed=st.integers(0, 1000), known=st.integers(1, 3))
@examples(40)
def test_the_attack_agrees_with_a_slow_search(people, seed, known):
    data = stays(people, seed)
    scene = scene_of(data)
    (result,) = EventInference(known=known).run(scene)
    expected = slow(data, scene, known)
    assert result.success.value == pytest.approx(np.mean([right for right, _ in expected]))
    assert result.baseline == pytest.approx(float(sum(chance for _, chance in expected) / len(expected)))


def test_more_known_events_disclose_more():
    data = stays(400, 3)
    found = shoal.attack(data, data, in_order=True, attacks="event-inference", **ROLES).of("event-inference", "dx")
    values = [point.success.value for point in found.curve]
    assert values[-1] > values[0]
    assert found.is_sure


def test_random_values_are_disclosed_by_chance_only():
    """Candidates that are told apart by nothing have the value as often as any others."""
    data = {**stays(300, 4, values="xy"), "day": [0] * len(stays(300, 4)["who"])}
    found = shoal.attack(data, data, in_order=True, attacks="event-inference", **ROLES).of("event-inference", "dx")
    assert found.success.value == pytest.approx(found.baseline, abs=0.02)


def test_a_release_that_links_no_records_cannot_be_attacked_by_several():
    data = stays(30, 5)
    release = {name: data[name] for name in ("day", "ward", "dx")}
    found = shoal.attack(data, release, in_order=True, attacks=["events", "event-inference"], **ROLES)
    assert set(found.left_out) == {"events", "event-inference"}


@pytest.mark.parametrize("recoding", ["global", "local", "mondrian", "suppression", "microaggregation"])
def test_every_technique_can_be_attacked_by_some_known_records(recoding):
    policy = shoal.Policy.parse(f"""
    version = 1
    data.subject = "who"
    search = {{ recoding = "{recoding}", suppression = 0.5 }}
    require = [{{ model = "k-anonymity", k = 3 }}]
    [columns]
    day = "quasi"
    ward = "quasi"
    dx = "sensitive"
    """)
    data = stays(200, 6)
    release = shoal.anonymize(data, policy)
    linked = release.to_frame("pyarrow").to_pydict()
    linked["who"] = [data["who"][record] for record in release.records.tolist()]
    found = shoal.attack(data, linked, policy, attacks=[Events(known=2), EventInference(known=2)])
    assert {result.attack for result in found.results} == {"events", "event-inference"}
    for result in found.results:
        assert 0 <= result.baseline <= 1
        assert 0 <= result.success.value <= 1
