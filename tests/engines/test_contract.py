"""The contract of engines: wherever the rows are, every verb gives what it gives in memory."""

import os
import signal
import subprocess
import sys
import textwrap
from functools import cache, partial
from itertools import cycle
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.effort import pairwise, tiered

import shoal
from shoal.engines import sorting, spark, written
from shoal.engines.capacity import Watch
from shoal.errors import CapacityError
from shoal.policy.pseudonyms import Draw
from shoal.policy.search import Search
from shoal.table.role import Role
from shoal.techniques.change import Drawn
from shoal.techniques.full_domain import best_scheme
from shoal.techniques.technique import Allows, Technique, Truth

OUTSIDE = ["disk", "duckdb", pytest.param("spark", marks=pytest.mark.spark)]
ROWS = 600

POLICY = """
version = 1
[data]
{subject}
[columns]
age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 30] }} }}
sex = {{ role = "quasi", hierarchy = {{ kind = "suppression" }} }}
place = {{ role = "quasi", hierarchy = {{ kind = "prefix", keep = [2] }} }}
born = {{ role = "quasi", linked = "age", hierarchy = {{ kind = "interval", widths = [10, 30] }} }}
dx = {{ role = "sensitive" {dx} }}
cost = {{ role = "insensitive" {cost} }}
name = {{ role = "direct" }}
{columns}
[[require]]
model = "k-anonymity"
k = 3
[[require]]
model = "l-diversity"
l = 2
[search]
suppression = 0.4
{search}
"""


def cells(whose="alone"):
    """Return columns with missing values, text, numbers, and with persons who have several records."""
    rng = np.random.default_rng(5)
    persons = np.arange(ROWS) if whose == "alone" else np.sort(rng.integers(0, 400, ROWS))
    age = rng.integers(20, 90, 1 + int(persons.max()))[persons]
    drawn = {
        "name": [f"Person {number}" for number in persons],
        "who": persons.tolist(),
        "age": [None if number % 41 == 0 else int(number) for number in age],
        "born": (2024 - age).tolist(),
        "sex": rng.choice(["f", "m"], 1 + int(persons.max()))[persons].tolist(),
        "place": rng.choice(["5012", "5013", "6011", "Ö1"], 1 + int(persons.max()))[persons].tolist(),
        "dx": rng.choice(["flu", "gout", "ms", None], ROWS, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
        "cost": (rng.integers(0, 40, ROWS) / 4).tolist(),
        "times": rng.integers(1, 4, ROWS).tolist(),
    }
    return pa.table(drawn)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of the same tables for all engines."""
    folder = tmp_path_factory.mktemp("engines")
    for whose in ("alone", "several"):
        pq.write_table(cells(whose), folder / f"{whose}.parquet", row_group_size=97)
    return folder


# Spark's other way of reading; test_anonymize takes it in both tiers
ONE_BY_ONE = pytest.param("spark, one by one", marks=[pytest.mark.spark, pytest.mark.nightly])


@pytest.fixture(params=[*OUTSIDE, ONE_BY_ONE])
def opened(request, files, monkeypatch):
    """Return what opens a table: in memory, and by another engine."""
    engine, _, one_by_one = request.param.partition(", ")
    if one_by_one:
        unrepeated(monkeypatch)
    return partial(both, files, engine)


def both(files, engine, whose="alone", **roles):
    path = files / f"{whose}.parquet"
    return [read(path, each, spark._MOST_CELLS).assign(**roles) for each in ("memory", engine)]


@cache
def read(path, engine, most_cells):
    """Read a table once for all tests with an engine, which for Spark takes longer than what they ask of it."""
    del most_cells  # tells Spark's two ways of reading apart
    return shoal.read(path, engine=engine)


def unrepeated(monkeypatch):
    """Let Spark read columns one by one, and count rows when somebody asks, as if records did not repeat."""
    monkeypatch.setattr(spark, "_MOST_CELLS", 0)


def policy(subject=False, search="", more="", **settings):
    """Return a policy; the column of persons is left out, unless it is the subject.

    ``settings``: further settings of single columns.
    """
    whose = 'subject = "who"' if subject else ""
    columns = 'times = { role = "insensitive" }' + ("" if subject else '\nwho = { role = "direct" }')
    return shoal.Policy.parse(
        POLICY.format(subject=whose, columns=columns, search=search + more, **{"dx": "", "cost": "", **settings})
    )


QUASI = ["age", "sex", "place"]
WHOSE = pytest.mark.parametrize(("whose", "subject"), [("alone", None), ("several", "who")])


@WHOSE
def test_assess(opened, whose, subject):
    one, other = (shoal.assess(table, quasi=QUASI, sensitive="dx", subject=subject) for table in opened(whose))
    assert str(one) == str(other)


def test_weights(opened):
    """Weights say how many of the population a record stands for."""
    tables = opened(weight="times")
    one, other = (str(shoal.assess(table, quasi=QUASI)) for table in tables)
    assert one == other


@WHOSE
@pytest.mark.parametrize("missing", ["own", "never"])
def test_measures(opened, whose, subject, missing):
    one, other = (
        shoal.measures(table, quasi=QUASI, sensitive="dx", subject=subject, missing=missing) for table in opened(whose)
    )
    assert one == other


@WHOSE
def test_subset_counts(opened, whose, subject):
    found = [shoal.peers(table, auxiliary=QUASI, sensitive="dx", subject=subject) for table in opened(whose)]
    assert str(found[0]) == str(found[1])
    frames = [held.to_frame("pyarrow").to_pydict() for held in found]
    assert frames[0] == frames[1]


def test_identify(opened):
    one, other = (shoal.identify(table) for table in opened())
    assert str(one) == str(other)


SEARCHES = {
    "global": ("several", ""),
    "local": ("alone", 'recoding = "local"'),
    "mondrian": ("alone", 'recoding = "mondrian"'),
    "microaggregation": ("alone", 'recoding = "microaggregation"'),
    "groups of several": ("several", 'recoding = "microaggregation"'),
    "refined": ("alone", "refine = true"),
    "relocated": ("alone", 'outliers = "relocate"'),
    "counterfeits": ("alone", 'outliers = "counterfeits"'),
    "sampled": ("several", "sample = 0.7"),
    "alone": ("alone", ""),
}


@pytest.fixture
def way(request, monkeypatch):
    """Let records be counted, or sorted on disk."""
    if request.param == "sorted":
        unrepeated(monkeypatch)
        monkeypatch.setattr(written, "MOST", 1)
        monkeypatch.setattr(sorting.sorted_on_disk, "__defaults__", (100,))


def _takes_spark_long(engine, search, way):
    """Spark sorts in seconds: three searches are enough, of which one has several records and one draws records."""
    return "spark" in str(engine) and way == "sorted" and search not in {"global", "sampled", "microaggregation"}


@pairwise(engine=OUTSIDE, search=list(SEARCHES), way=["counted", "sorted"], indirect=["way"], rarely=_takes_spark_long)
def test_anonymize(files, engine, search, way, tmp_path, monkeypatch):
    """The same release, byte for byte, whether its records were counted or sorted on disk."""
    whose, asked = SEARCHES[search]
    monkeypatch.setenv("DRAW_KEY", "a key that is long enough")
    said = policy(whose == "several", asked).model_copy(update={"draw": Draw(key_variable="DRAW_KEY")})
    if search == "counterfeits":
        said = said.model_copy(update={"require": said.require[:1]})
    told = []
    for number, table in enumerate(both(files, engine, whose)):
        release = shoal.anonymize(table, said)
        release.save(tmp_path / f"{number}.csv")
        release.save(tmp_path / f"{number}.parquet")
        told.append(str(release))
    for suffix in ("csv", "csv.manifest.json", "csv.owner-only/internal.json", "parquet"):
        assert (tmp_path / f"0.{suffix}").read_bytes() == (tmp_path / f"1.{suffix}").read_bytes()
    assert told[0] == told[1]


class Randomized(Technique):
    """Sensitive values and, of quasi-identifiers, sex are drawn anew for one record in four."""

    kind: Literal["randomized"] = "randomized"
    allows: ClassVar[frozenset[Allows]] = frozenset({Allows.SEVERAL})
    says: ClassVar[str] = "Some values are drawn."
    iso: ClassVar[str] = "randomization"
    truth: ClassVar[Truth] = Truth.PERTURBED
    untrue: ClassVar[str] = "Some values were drawn."
    touches: ClassVar[frozenset[Role]] = frozenset({Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE})

    def treat(self, goal, progress=lambda _: None):
        """Draw within the dictionary of the original."""
        treatment, table = best_scheme(goal, progress), goal.space.table
        return treatment.changed(*(self.cells(table[name]) for name in ("dx", "cost")))

    @staticmethod
    def cells(column):
        def draw(codes, numbers):
            drawn = (numbers >> np.uint64(2)) % np.uint64(column.size)
            return np.where(numbers % np.uint64(4) == 0, drawn, codes).astype(codes.dtype)

        return Drawn(column, draw)


@pytest.mark.parametrize("whose", ["alone", "several"])
@pytest.mark.parametrize("way", ["counted", "sorted"], indirect=True)
@pytest.mark.parametrize("engine", OUTSIDE)
def test_cells_that_are_drawn(files, engine, whose, way, tmp_path, monkeypatch):
    """Byte for byte the same on every engine, in any order of records, and something else with another key."""
    monkeypatch.setenv("DRAW_KEY", "a key that is long enough")
    asked = policy(whose == "several").model_copy(update={"draw": Draw(key_variable="DRAW_KEY")})
    asked = asked.model_copy(
        update={"search": Search.model_construct(**{**dict(asked.search), "recoding": Randomized()})}
    )
    inside, outside = both(files, engine, whose)
    mixed = shoal.read(inside.to_frame("pyarrow").take(np.random.default_rng(0).permutation(ROWS)))
    tables = []
    for number, table in enumerate((inside, outside, mixed)):
        release = shoal.anonymize(table, asked)
        release.save(tmp_path / f"{number}.csv")
        tables.append(release)
    first, *others = ((tmp_path / f"{number}.csv").read_bytes() for number in range(3))
    assert others == [first, first]
    assert "Some values were drawn." in tables[0].facts["truthful"]
    _drawn_values_are_where_they_should(inside, tables[0], whose)
    monkeypatch.setenv("DRAW_KEY", "another key that is long enough")
    assert shoal.anonymize(inside, asked).to_frame("pyarrow") != tables[0].to_frame("pyarrow")


_DRAW = '\n[draw]\nkey_variable = "DRAW_KEY"'
PERTURBED = {
    "swap": ('{ kind = "swap", share = 0.2 }', '{ kind = "pram", keep = 0.6 }'),
    "noise": ('{ kind = "noise", share = 0.4 }', '{ kind = "pram", keep = 0.2 }'),
    "shuffle": ('{ kind = "shuffle", given = ["age", "sex", "dx"] }', '{ kind = "pram" }'),
    "sets": ('{ kind = "round", to = 0.5, method = "random" }', '{ kind = "pram" }'),
    "coded": ('{ kind = "code", persons = 20 }', '{ kind = "pram" }'),
}


@pairwise(
    engine=["disk", "duckdb"],
    kind=list(PERTURBED),
    whose=["alone", "several"],
    way=["counted", "sorted"],
    indirect=["way"],
)
def test_perturbed_columns(files, engine, kind, whose, way, tmp_path, monkeypatch):
    _are_the_same(files, engine, kind, whose, tmp_path, monkeypatch)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("kind", "whose"), tiered(zip(PERTURBED, cycle(["several", "alone"]), strict=False), quick=0, exhaustive=2)
)
@pytest.mark.parametrize("way", ["sorted"], indirect=True)
def test_perturbed_columns_of_spark(files, kind, whose, way, tmp_path, monkeypatch):
    """Each takes Spark seconds: two kinds are enough, and the nightly profile runs every kind once."""
    _are_the_same(files, "spark", kind, whose, tmp_path, monkeypatch)


def _are_the_same(files, engine, kind, whose, tmp_path, monkeypatch):
    """Byte for byte the same on every engine and in any order of records, and not the same with another key."""
    monkeypatch.setenv("DRAW_KEY", "a key that is long enough")
    cost, dx = PERTURBED[kind]
    asked = policy(whose == "several", cost=f", perturb = {cost}", dx=f", perturb = {dx}", more=_DRAW)
    inside, outside = both(files, engine, whose)
    mixed = shoal.read(inside.to_frame("pyarrow").take(np.random.default_rng(0).permutation(ROWS)))
    for number, table in enumerate((inside, outside, mixed)):
        release = shoal.anonymize(table, asked)
        release.save(tmp_path / f"{number}.csv")
    first, *others = ((tmp_path / f"{number}.csv").read_bytes() for number in range(3))
    assert others == [first, first]
    monkeypatch.setenv("DRAW_KEY", "another key that is long enough")
    shoal.anonymize(inside, asked).save(tmp_path / "other.csv")
    assert (tmp_path / "other.csv").read_bytes() != first


def _drawn_values_are_where_they_should(table, release, whose):
    before, after = table.to_frame("pyarrow"), release.to_frame("pyarrow")
    origins = release.records
    was, now = before["dx"].take(origins).to_pylist(), after["dx"].to_pylist()
    changed = np.array([one != other for one, other in zip(was, now, strict=True)])
    assert 0.1 < changed.mean() < 0.3  # a quarter is drawn, of which some as it was
    if whose == "several":  # the same number for all records of a person: alike records stay alike
        by_person = {}
        for person, old, new in zip(before["who"].take(origins).to_pylist(), was, now, strict=True):
            assert by_person.setdefault((person, old), new) == new


def test_pseudonyms(opened, tmp_path):
    """Keyed pseudonyms are the same wherever the rows are."""
    (tmp_path / "key").write_text("a key that is long enough")
    search = f'[pseudonyms]\ncolumns = ["who"]\nkey_file = "{tmp_path / "key"}"'
    found = [shoal.anonymize(table, policy(search=search)).to_frame("pyarrow").to_pydict() for table in opened()]
    assert found[0] == found[1]
    assert len(set(found[0]["who"])) == len(found[0]["who"]) > 100


@WHOSE
def test_compare_and_attack(opened, whose, subject):
    told = []
    for table in opened(whose):
        release = shoal.anonymize(table, policy(bool(subject)))
        attacks = ["linkage", "homogeneity", "skewness", "background-knowledge"]
        found = shoal.attack(table, release, attacks=attacks, targets=50)
        told.append((str(shoal.compare(table, release)), str(found)))
    assert told[0] == told[1]


def test_a_report(opened):
    one, other = (shoal.report(table, shoal.anonymize(table, policy())).to_markdown() for table in opened())
    assert one == other


@pytest.mark.parametrize("engine", OUTSIDE)
def test_too_many_combinations_are_told_early(files, engine, monkeypatch):
    table = shoal.read(files / "alone.parquet", engine=engine)
    monkeypatch.setenv("SHOAL_MEMORY", "8000")
    with pytest.raises(CapacityError, match="are expected. This machine can hold") as caught:
        shoal.assess(table, quasi=["who", "age"])
    assert "Generalise a column" in caught.value.hint


def test_growth_that_slows_down_is_no_reason_to_stop():
    watch = Watch(1_000_000, columns=2, most=1000)
    for different in (600, 700, 750, 770):
        watch.seen(100_000, different)
    with pytest.raises(CapacityError):
        watch.seen(100_000, 1001)


@pytest.mark.parametrize(
    "engine", ["memory", "disk", "duckdb", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly])]
)
def test_killed_half_way(files, engine, tmp_path):
    """Who is killed while writing leaves the old file as it was, and nothing that could be taken for a release."""
    (tmp_path / "out.csv").write_text("old")
    script = f"""
        import os, signal, shoal
        from pathlib import Path
        from shoal.engines import spark
        from tests.conftest import SMALL_SPARK
        from tests.engines.test_contract import policy
        spark._SESSION.update(SMALL_SPARK)
        release = shoal.anonymize(shoal.read({str(files / "alone.parquet")!r}, engine={engine!r}), policy())
        die = lambda progress: os.kill(os.getpid(), signal.SIGKILL)
        release.save({str(tmp_path / "out.csv")!r}, force=True, progress=die)
    """
    own = tmp_path / "temporary"  # who is killed cannot tidy up
    own.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        check=False,
        timeout=120,
        env={**os.environ, "TMPDIR": str(own)},
    )
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "out.csv").read_text() == "old"
    left = {path.name for path in tmp_path.iterdir() if not path.name.endswith(".partial")}
    assert left == {"out.csv", "temporary"}
