"""Treatments: whatever is done to the records, all requirements hold, every cell is true, and nobody gets lost."""

import ast
import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.effort import examples

import shoal
from shoal import toml
from shoal.errors import ReleaseError
from shoal.hierarchy.labels import read_range
from shoal.models.evidence import Gatherer
from shoal.models.model import MODELS
from shoal.policy.search import Search
from shoal.qualities.quality import QUALITIES
from shoal.search.goal import Goal
from shoal.search.space import Space
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.techniques.change import Replaced
from shoal.techniques.full_domain import best_scheme
from shoal.techniques.mondrian import Mondrian
from shoal.techniques.outliers import OUTLIERS
from shoal.techniques.technique import TECHNIQUES, Technique, Truth

JOBS = {"nurse": ["care"], "doctor": ["care"], "smith": ["craft"], "baker": ["craft"], "none": ["none"]}
POLICY = """
version = 1
columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [5, 20] }} }}
columns.job = {{ role = "quasi", hierarchy = {{ kind = "explicit", values = {jobs} }} }}
columns.sex = "quasi"
columns.dx = "sensitive"
columns.note = "insensitive"
require = [{{ model = "k-anonymity", k = {k} }}{more}]
[search]
{search}
"""
BLANK = ("*", "*", "*")
records = st.tuples(
    st.one_of(st.integers(20, 60), st.none()),
    st.sampled_from(sorted(JOBS)),
    st.sampled_from(["f", "m"]),
    st.sampled_from(["flu", "ms", "gout"]),
)


def policy(recoding, *, k=2, more="", suppression=0.2, **search):
    jobs = "{ " + ", ".join(f'{job} = ["{kinds[0]}"]' for job, kinds in JOBS.items()) + " }"
    said = {"recoding": recoding, "suppression": suppression, **search}
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in said.items())
    return shoal.Policy.parse(POLICY.format(jobs=jobs, k=k, more=more, search=lines))


def frame(rows):
    columns = dict(zip(("age", "job", "sex", "dx"), map(list, zip(*rows, strict=True)), strict=True))
    return {**columns, "note": list(range(len(rows)))}  # tells which record it was


def covers(label, value, name):
    """Tell whether a released cell is true of a value."""
    if label == "*":
        return True
    if label is None or value is None:
        return label is value
    if name == "age":
        stated = read_range(str(label))
        return str(value) == str(label) or (stated is not None and value in stated)
    return label == value or (name == "job" and label in JOBS[value])


def test_policies_know_all_techniques():
    names, tables = Search.model_json_schema()["properties"]["recoding"]["anyOf"]
    assert names["enum"] == sorted(TECHNIQUES)
    assert set(tables["discriminator"]["mapping"]) == set(TECHNIQUES)


@pytest.mark.parametrize("name", list(TECHNIQUES))
def test_techniques_say_what_they_are(name):
    technique = TECHNIQUES[name]
    assert technique().kind == technique.called() == name
    assert technique.says.endswith(".")
    assert technique.iso
    assert all(field.description for option, field in technique.model_fields.items() if option != "kind")


@pytest.mark.parametrize(
    "search",
    [
        {"recoding": "mondrian", "strict": False},
        {"recoding": {"kind": "mondrian", "strict": False}},
        {"recoding": {"kind": "mondrian", "strict": False}, "cuts": "hierarchy"},
    ],
)
def test_options_stand_beside_a_technique_or_in_it(search):
    found = Search.model_validate(search)
    assert found.technique == Mondrian(strict=False)
    assert found.model_dump(mode="json", exclude_unset=True) == search
    assert Search.model_validate(found.model_dump(mode="json", exclude_unset=True)) == found


@pytest.mark.parametrize(
    ("search", "problem"),
    [
        ({"recoding": "mondrain"}, "there is no such recoding. Did you mean 'mondrian'?"),
        ({"recoding": {"kind": "mondrain"}}, "mondrain"),
        ({"recoding": {"strict": True}}, "kind"),
        ({"recoding": {"kind": "mondrian", "strickt": True}}, "strickt"),
        ({"recoding": {"kind": "mondrian", "strict": False}, "strict": False}, "given twice"),
        ({"strict": False}, 'strict = false can only be combined with recoding = "mondrian"'),
        ({"cuts": "anywhere"}, 'cuts = "anywhere" can only be combined with recoding = "mondrian"'),
        (
            {"recoding": "mondrian", "refine": True},
            'refine can only be combined with recoding = "global" or "local" or "suppression"',
        ),
        ({"recoding": "suppression", "levels": {"age": [0, 1]}}, "has no levels"),
        ({"recoding": "subsets", "outliers": "relocate"}, 'can only be combined with outliers = "suppress"'),
        (
            {"recoding": "local", "outliers": "counterfeits"},
            'can only be combined with recoding = "global", without refine',
        ),
        ({"refine": True, "outliers": "cells"}, 'can only be combined with recoding = "global", without refine'),
        ({"outliers": "forget"}, "there is no such way to deal with outliers"),
    ],
)
def test_what_does_not_fit_together_is_refused(search, problem):
    with pytest.raises(shoal.errors.PolicyError) as failure:
        shoal.Policy.parse(f"version = 1\nsearch = {toml.value(search)}")
    assert problem in str(failure.value)


NAMES = {*TECHNIQUES, *OUTLIERS}
STATED = re.compile(rf'(recoding|outliers) = "({"|".join(NAMES)})"')


def test_no_other_file_knows_a_technique_by_its_name():
    """A technique declares its properties; whoever asks for its name forgets the next one that is added."""
    package, knowing = Path(shoal.__file__).parent, []
    for path in package.rglob("*.py"):
        if path.parent.name == "techniques":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        asked = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
        texts = [
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        subjects = {ast.unparse(node.left).rpartition(".")[2] for node in asked if _texts_in(node) & NAMES}
        if subjects & {"recoding", "outliers", "technique", "way", "kind"} or any(map(STATED.search, texts)):
            knowing.append(path.relative_to(package).as_posix())
    assert knowing == []


def _texts_in(part):
    return {node.value for node in ast.walk(part) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize(
    ("recoding", "options"),
    [
        ("global", {}),
        ("global", {"refine": True}),
        ("local", {}),
        ("local", {"refine": True}),
        ("suppression", {}),
        ("suppression", {"refine": True}),
        ("mondrian", {}),
        ("mondrian", {"cuts": "anywhere"}),
        ("mondrian", {"strict": False}),
    ],
)
@examples(24)
@given(rows=st.lists(records, min_size=4, max_size=30), k=st.integers(2, 4), diverse=st.booleans())
def test_every_class_passes_and_every_cell_is_true(recoding, options, rows, k, diverse):
    more = ', { model = "l-diversity", l = 2, column = "dx" }' if diverse else ""
    data = frame(rows)
    try:
        release = shoal.anonymize(data, policy(recoding, k=k, more=more, **options))
    except ReleaseError:
        assert diverse
        assert len(set(data["dx"])) < 2  # all in one class would do otherwise
        return
    shown = release.to_frame("pyarrow").to_pydict()
    keys = list(zip(shown["age"], shown["job"], shown["sex"], strict=True))
    sizes = Counter(keys)
    assert all(size >= k for size in sizes.values())
    assert set(keys) == {BLANK} or BLANK not in keys  # who shows nothing is left out, unless nobody shows anything
    assert release.suppressed <= len(rows) // 5
    if diverse:
        kinds = {key: {dx for other, dx in zip(keys, shown["dx"], strict=True) if other == key} for key in sizes}
        assert all(len(kinds[key]) >= 2 for key in keys)
    assert len(set(shown["note"])) == len(keys) == len(rows) - release.suppressed_records
    for place, note in enumerate(shown["note"]):
        for name in ("age", "job", "sex"):
            assert covers(shown[name][place], data[name][note], name)
        assert shown["dx"][place] == data["dx"][note]


SOME_HIDDEN = """
version = 1
columns.x = { role = "quasi", hierarchy = { kind = "explicit", values = { a = ["low"], b = ["low"], c = ["*"] } } }
columns.y = { role = "quasi", hierarchy = { kind = "explicit", values = { d = ["one"], e = ["two"], f = ["*"] } } }
"""


@pytest.mark.parametrize(
    ("k", "suppression", "left_out", "scheme"),
    [(2, 0, 0, {"x": 1, "y": 0}), (4, 0.34, 2, {"x": 1, "y": 2}), (4, 0, 0, {"x": 2, "y": 2})],
)
def test_records_that_a_level_hides_count_as_left_out(k, suppression, left_out, scheme):
    data = {"x": ["a", "b", "a", "b", "c", "c"], "y": ["d", "d", "e", "e", "f", "f"]}
    asked = f'require = [{{ model = "k-anonymity", k = {k} }}]\nsearch.suppression = {suppression}'
    release = shoal.anonymize(data, shoal.Policy.parse(f"{SOME_HIDDEN}{asked}"))
    assert (release.suppressed, release.scheme) == (left_out, scheme)
    assert shoal.assess(release.table, quasi=["x", "y"]).suppressed == 0


@pytest.mark.parametrize("outliers", ["suppress", "cells", "relocate", "counterfeits"])
@examples(24)
@given(rows=st.lists(records, min_size=8, max_size=40), k=st.integers(2, 4))
def test_outliers_are_dealt_with_and_counted(outliers, rows, k):
    data = frame(rows)
    plain = shoal.anonymize(data, policy("global", k=k, suppression=0.4))
    release = shoal.anonymize(data, policy("global", k=k, suppression=0.4, outliers=outliers))
    told = release.facts["outliers"]
    shown = release.to_frame("pyarrow").to_pydict()
    keys = list(zip(shown["age"], shown["job"], shown["sex"], strict=True))
    assert all(size >= k for size in Counter(keys).values())
    assert set(keys) == {BLANK} or BLANK not in keys
    assert release.suppressed <= plain.suppressed
    pairs = [
        [covers(shown[name][place], data[name][note], name) for name in ("age", "job", "sex")]
        for place, note in enumerate(shown["note"])
    ]
    if outliers == "counterfeits":
        assert len(keys) == len(rows) + told.get("counterfeits", 0)
        assert release.suppressed == 0
        assert plain.suppressed == 0 or told["counterfeits"] > 0
        return
    assert len(set(shown["note"])) == len(keys) == len(rows) - release.suppressed_records
    if outliers == "relocate":
        untrue = sum(not all(held) for held in pairs)
        assert untrue == told.get("moved", 0) == plain.suppressed - release.suppressed
        assert release.suppressed == 0 or plain.suppressed == len(rows)
        assert 0 <= told.get("displacement", 0) <= 1
        assert untrue == 0 or told["displacement"] > 0
    else:
        assert all(all(held) for held in pairs)
    if outliers == "cells":
        assert told.get("records", 0) == plain.suppressed - release.suppressed
        assert told.get("cells", 0) >= told.get("records", 0)


def test_relocation_goes_to_the_nearest_class_that_takes_it():
    rows = [(31, "baker", "f", "flu"), (31, "baker", "f", "ms")] * 2 + [
        (58, "smith", "m", "ms"),
        (58, "smith", "m", "ms"),
    ]
    rows += [(57, "baker", "m", "ms")]
    alone = shoal.anonymize(frame(rows), policy("global", k=2, suppression=0.2, outliers="relocate"))
    shown = alone.to_frame("pyarrow").to_pydict()
    at = shown["note"].index(6)
    assert (alone.facts["outliers"]["moved"], shown["sex"][at]) == (1, "m")
    more = ', { model = "l-diversity", l = 2, column = "dx" }'
    diverse = shoal.anonymize(frame(rows), policy("global", k=2, suppression=0.5, more=more, outliers="relocate"))
    assert diverse.met
    assert diverse.suppressed == 0


@given(rows=st.lists(records, min_size=4, max_size=30), k=st.integers(2, 4), m=st.integers(1, 3))
def test_nobody_is_found_by_any_few_columns(rows, k, m):
    more = f', {{ model = "subset-k-anonymity", k = {k}, m = {m} }}'
    data = frame(rows)
    chosen = policy("subsets", k=1, more=more, suppression=1.0)
    try:
        release = shoal.anonymize(data, chosen)
    except ReleaseError:
        assert m == 3 or len(rows) < 2 * k  # nothing but what is alike in all columns may be shown
        return
    shown = release.to_frame("pyarrow").to_pydict()
    for size in range(1, m + 1):
        for known in combinations(("age", "job", "sex"), size):
            seen = Counter(zip(*(shown[name] for name in known), strict=True))
            assert min(seen.values()) >= k
    for place, note in enumerate(shown["note"]):
        for name in ("age", "job", "sex"):
            assert covers(shown[name][place], data[name][note], name)


def test_relocation_knows_distances():
    """The oldest go to the class of the next oldest, not to that of children."""
    text = """
        version = 1
        columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [20], top = 90 } }
        require = [{ model = "k-anonymity", k = 5 }]
        search = { suppression = 0.1, outliers = "relocate", levels = { age = [LEVEL, LEVEL] } }
    """
    data = {"age": [5] * 10 + [25] * 10 + [85] * 10 + [97] * 2}
    for level, label in ((1, "80-89"), (0, 85)):
        release = shoal.anonymize(data, shoal.Policy.parse(text.replace("LEVEL", str(level))))
        assert Counter(release.to_frame("pyarrow").to_pydict()["age"])[label] == 12
        assert release.facts["outliers"]["displacement"] == pytest.approx((97 - [85, 89][level]) / 92)


@pytest.mark.parametrize("recoding", ["local", "suppression"])
def test_one_rare_person_does_not_spoil_it_for_many(recoding):
    text = """
        version = 1
        columns.city = { role = "quasi", hierarchy = { kind = "suppression" } }
        require = [{ model = "k-anonymity", k = 5 }]
        search = { suppression = 0.05, recoding = "RECODING" }
    """
    data = {"city": ["A"] * 30 + ["B"] * 29 + ["RARE"]}
    release = shoal.anonymize(data, shoal.Policy.parse(text.replace("RECODING", recoding)))
    assert Counter(release.to_frame("pyarrow").to_pydict()["city"]) == {"A": 30, "B": 29}
    strict = shoal.Policy.parse(text.replace("RECODING", recoding).replace("0.05", "0"))
    assert Counter(shoal.anonymize(data, strict).to_frame("pyarrow").to_pydict()["city"]) == {"*": 60}


@pytest.mark.parametrize("levels", [[1, 2], [0, 2], [1, 3], [1, 1]])
def test_local_recoding_within_bounds_of_levels(levels):
    text = f"""
        version = 1
        columns.city = {{ role = "quasi", hierarchy = {{ kind = "suppression" }} }}
        columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 20] }} }}
        require = [{{ model = "k-anonymity", k = 3 }}]
        search = {{ suppression = 0.1, recoding = "local", levels = {{ age = {levels} }} }}
    """
    data = {"city": ["A"] * 30 + ["B"] * 30 + ["C"], "age": [*range(60), 5]}
    release = shoal.anonymize(data, shoal.Policy.parse(text))
    assert release.met
    assert sum(release.levels["age"][: levels[0]]) == sum(release.levels["age"][levels[1] + 1 :]) == 0


def test_weaker_requirements_cost_no_more_cells():
    rng = np.random.default_rng(2)
    data = {name: rng.zipf(1.5, 300).clip(0, 30).tolist() for name in ("a", "b", "c", "d")}
    cells = []
    for m in (1, 2, 3, 4):
        text = f"""
            version = 1
            columns = {{ a = "quasi", b = "quasi", c = "quasi", d = "quasi" }}
            require = [{{ model = "subset-k-anonymity", k = 5, m = {m} }}]
            search = {{ suppression = 1, recoding = "subsets" }}
        """
        shown = shoal.anonymize(data, shoal.Policy.parse(text)).to_frame("pyarrow").to_pydict()
        lost = 300 - len(shown["a"])
        cells.append(4 * lost + sum(label == "*" for name in data for label in shown[name]))
    assert all(few <= cells[-1] for few in cells)


def slow_mondrian(points, spans, k):
    """Cut a list of points (ages, sexes) the way the paper says, one part after another."""
    for column in sorted(
        range(2), key=lambda j: (-(max(p[j] for p in points) - min(p[j] for p in points)) / spans[j], j)
    ):
        values, best = sorted(p[column] for p in points), None
        for boundary in sorted(set(values))[1:]:
            left = sum(value < boundary for value in values)
            if best is None or abs(2 * left - len(points)) < best[0]:
                best = abs(2 * left - len(points)), boundary
        if best is None:
            continue
        low, high = [p for p in points if p[column] < best[1]], [p for p in points if p[column] >= best[1]]
        if min(len(low), len(high)) >= k:
            return slow_mondrian(low, spans, k) + slow_mondrian(high, spans, k)
    return [points]


@given(points=st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), min_size=6, max_size=60), k=st.integers(2, 5))
def test_mondrian_is_the_papers(points, k):
    table = shoal.read({"a": [a for a, _ in points], "b": [b for _, b in points]}).assign(quasi=["a", "b"])
    spans = [max(max(p[j] for p in points) - min(p[j] for p in points), 1) for j in range(2)]
    expected = Counter(
        (min(p[0] for p in part), max(p[0] for p in part), min(p[1] for p in part), max(p[1] for p in part))
        for part in slow_mondrian(points, spans, k)
        for _ in part
    )
    ladders = shoal.Policy.parse('version = 1\ncolumns.a = "quasi"\ncolumns.b = "quasi"').hierarchies(table)
    space = Space.of(table, ["a", "b"], ladders)
    assume(space.names == ("a", "b"))  # ties go to the first column, which is the one with more values
    sought = Goal(space, Gatherer(table), (MODELS["k-anonymity"](k=k),), QUALITIES["loss"](), 0)
    found = Mondrian(cuts="anywhere").treat(sought)
    recoding = found.recoding()
    ends = [
        (recoding[name].nodes.low[recoding[name].at], recoding[name].nodes.high[recoding[name].at]) for name in "ab"
    ]
    shown = Counter()
    for row, count in enumerate(recoding.counts.tolist()):
        shown[tuple(int(side[row]) for both in ends for side in both)] += count
    assert shown == expected


def adult(shared, models, **how):
    folder = shared / "data/arx-adult"
    names = "age native-country education occupation marital-status workclass race sex salary-class".split()
    table = shoal.read(folder / "adult.csv").assign(quasi=names)
    kind = 'kind = "explicit", separator = ";", check_labels = false'
    lines = [
        f'{name} = {{ role = "quasi", hierarchy = {{ {kind}, file = "{folder}/adult_hierarchy_{name}.csv" }} }}'
        for name in names
    ]
    ladders = shoal.Policy.parse("\n".join(["version = 1", "[columns]", *lines])).hierarchies(table)
    space = Space.of(table, names, ladders)
    sought = Goal(space, Gatherer(table, hierarchies=ladders), models, QUALITIES["loss"](), 0)
    return sought, Search(**how).technique.treat(sought)


def test_relaxed_cuts_lose_less_than_strict_ones(shared):
    models = (MODELS["k-anonymity"](k=5),)
    losses = []
    for strict in (True, False):
        _, found = adult(shared, models, recoding="mondrian", strict=strict, cuts="anywhere")
        recoding = found.recoding()
        assert recoding.classes.sizes.min() >= 5
        assert not found.suppressed.any()
        losses.append(QUALITIES["loss"]().measure(recoding).total.cost)
    assert losses[1] < losses[0] < 0.07  # 4,156 classes; the best full-domain scheme loses 0.573


@pytest.mark.parametrize(("important", "other"), [("sex", "job"), ("job", "sex")])
def test_cell_suppression_spares_what_is_important(important, other):
    rare = [(40, job, sex, "flu") for job in ("baker", "smith") for sex in ("f", "m")]  # alike in two ways
    plain = policy("suppression", k=2, suppression=0)
    weighted = plain.model_copy(update={"search": plain.search.model_copy(update={"weights": {important: 9.0}})})
    shown = shoal.anonymize(frame([(30, "none", "f", "ms")] * 3 + rare), weighted).to_frame("pyarrow").to_pydict()
    stars = {name: sum(label == "*" for label in shown[name]) for name in ("age", "job", "sex")}
    assert stars == {"age": 0, important: 0, other: 4}


class Decades(Technique):
    """Ages are replaced by the middle of their decade; the classes are those of the best scheme."""

    kind: Literal["decades"] = "decades"
    says: ClassVar[str] = "Ages are replaced."
    iso: ClassVar[str] = "microaggregation"
    truth: ClassVar[Truth] = Truth.REPRESENTATIVE
    untrue: ClassVar[str] = "Ages stand for a decade."

    def treat(self, goal, progress=lambda _: None):
        """Put everybody on a scheme, and show a number instead of its label."""
        treatment, table = best_scheme(goal, progress), goal.space.table
        middles = table["age"].values.to_numpy(zero_copy_only=False) // 10 * 10 + 5
        values, codes = np.unique(middles, return_inverse=True)
        column = Column("age", Kind.INTEGER, pa.array(values))
        ages = treatment.rows.codes[treatment.rows.columns.index("age")]
        return treatment.changed(Replaced(column, codes.astype(np.uint8)[ages]))


def test_values_that_stand_for_others_go_out_and_count_as_changed():
    ages = [31, 34, 38, 39, 71, 72, 78, 79] * 5
    asked = shoal.Policy.parse(
        """
        version = 1
        columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
        require = [{ model = "k-anonymity", k = 4 }]
        """
    )
    search = Search.model_construct(**{**dict(asked.search), "recoding": Decades()})
    release = shoal.anonymize({"age": ages}, asked.model_copy(update={"search": search}))
    assert release.to_frame("pyarrow").to_pydict() == {"age": [35] * 20 + [75] * 20}
    assert release.scheme == {}
    assert "Ages stand for a decade." in release.facts["truthful"]
    compared = shoal.compare({"age": ages}, release, quasi=["age"])
    assert release.quality["loss"].total == compared.quality["loss"].total
    assert compared.columns["age"].kept == 0
