"""A table that goes out in two: which sensitive value is whose cannot be told within a group."""

import json
from collections import Counter
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.cli.anonymize import show
from shoal.cli.output import console
from shoal.errors import ReadError, ReleaseError
from shoal.policy.search import Search
from shoal.release import saving
from shoal.techniques.change import Split
from shoal.techniques.full_domain import best_scheme
from shoal.techniques.technique import Allows, Technique
from tests.engines.test_contract import OUTSIDE, WHOSE, both, files, policy, way  # noqa: F401 - fixtures

KEY = "a key that is long enough"


class Apart(Technique):
    """The best scheme; diagnosis and cost go out in a table of their own, linked by class."""

    kind: Literal["apart"] = "apart"
    allows: ClassVar[frozenset[Allows]] = frozenset({Allows.SEVERAL})
    says: ClassVar[str] = "Sensitive values are in a table of their own."
    iso: ClassVar[str] = "permutation"
    columns: tuple[str, ...] = ("dx", "cost")
    coarse: bool = False

    def treat(self, goal, progress=lambda _: None):
        """Group records by what they show."""
        treatment = best_scheme(goal, progress)
        shown = np.stack([change.shown for change in treatment.generalised])
        groups = np.unique(shown, axis=1, return_inverse=True)[1].reshape(-1)
        return treatment.changed(Split("sensitive", self.columns, "bucket", groups // 2 if self.coarse else groups))


def with_technique(asked, technique):
    search = Search.model_construct(**{**dict(asked.search), "recoding": technique})
    return asked.model_copy(update={"search": search})


def asked_of(technique, *, several=False):
    draw = shoal.Policy.parse('version = 1\ndraw.key_variable = "SPLIT_KEY"').draw
    return with_technique(policy(several), technique).model_copy(update={"draw": draw})


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SPLIT_KEY", KEY)


def rows(frame, *names):
    return zip(*(frame[name].to_pylist() for name in names), strict=True)


@WHOSE
@pytest.mark.parametrize("way", ["counted", "sorted"], indirect=True)
@pytest.mark.parametrize("engine", OUTSIDE)
def test_both_tables_are_the_same_on_every_engine(files, engine, whose, subject, way, tmp_path):  # noqa: F811
    asked = asked_of(Apart(), several=bool(subject))
    for number, table in enumerate(both(files, engine, whose)):
        release = shoal.anonymize(table, asked)
        release.save(tmp_path / f"{number}.csv")
        release.save(tmp_path / f"{number}.parquet")
    for name in ("csv", "sensitive.csv", "parquet", "sensitive.parquet", "csv.owner-only/internal.json"):
        mine, theirs = ((tmp_path / f"{number}.{name}").read_bytes() for number in range(2))
        assert mine.replace(b"0.sensitive", b"1.sensitive") == theirs
    whole = shoal.anonymize(both(files, engine, whose)[0], policy(bool(subject)))
    first, second = (pq.read_table(tmp_path / f"0.{name}") for name in ("parquet", "sensitive.parquet"))
    assert second.column_names == ["bucket", "dx", "cost"]
    assert sorted(first.column_names) == sorted({*whole.table.names, "bucket"} - {"dx", "cost"})
    assert np.array_equal(np.sort(first["bucket"]), np.sort(second["bucket"]))
    shown = {bucket: row for bucket, *row in rows(first, "bucket", *whole.table.quasi)}
    assert len(shown) == whole.classes
    pairs = Counter((*shown[bucket], dx) for bucket, dx in rows(second, "bucket", "dx"))
    assert pairs == Counter(rows(whole.to_frame("pyarrow"), *whole.table.quasi, "dx"))


def test_the_numbers_of_groups_hang_on_the_key_and_tell_no_order(files, monkeypatch):  # noqa: F811
    table = both(files, "disk")[0]
    release = shoal.anonymize(table, asked_of(Apart()))
    again = shoal.anonymize(table, asked_of(Apart()))
    monkeypatch.setenv("SPLIT_KEY", f"{KEY}, and another")
    other = shoal.anonymize(table, asked_of(Apart()))
    frames = [
        {name: table.to_frame("pyarrow") for name, table in found.tables.items()} for found in (release, again, other)
    ]
    assert list(frames[0]) == ["release", "release.sensitive"]
    assert frames[0] == frames[1]
    assert frames[0] != frames[2]
    buckets = frames[0]["release"]["bucket"].to_numpy()
    assert sorted(set(buckets.tolist())) == list(range(1, len(set(buckets.tolist())) + 1))
    assert not (np.diff(buckets) >= 0).all()  # rows are sorted by what they show, and groups are not


def test_what_was_written_is_compared_and_judged(files, tmp_path, monkeypatch):  # noqa: F811
    table = both(files, "disk")[0]
    release = shoal.anonymize(table, asked_of(Apart()))
    written = saving.write

    def tampered(table, path, **options):
        if "sensitive" in path.name:  # all values are there, in other groups
            codes = np.roll(np.arange(table["bucket"].size, dtype=np.uint32), 1)
            table = table.recoded({"bucket": (table["bucket"], codes)})
        return written(table, path, **options)

    monkeypatch.setattr(saving, "write", tampered)
    with pytest.raises(ReleaseError, match="The records of the written release differ from the"):
        release.save(tmp_path / "out.csv")
    monkeypatch.undo()
    monkeypatch.setenv("SPLIT_KEY", KEY)
    diverse = shoal.Policy.parse('version = 1\nrequire = [{ model = "l-diversity", l = 4, column = "dx" }]')
    promise = replace(release.part.promise, asked=tuple(diverse.requirements()))
    with pytest.raises(ReleaseError, match="does not meet 1 requirement"):
        release.with_part(replace(release.part, promise=promise)).save(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_the_manifest_names_both_files_and_what_links_them(files, tmp_path):  # noqa: F811
    release = shoal.anonymize(both(files, "disk")[0], asked_of(Apart()))
    saved = release.save(tmp_path / "out.csv")
    assert [path.name for path in saved[:3]] == ["out.csv", "out.sensitive.csv", "out.csv.manifest.json"]
    public = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert list(public["files"]) == ["out.sensitive.csv"]
    assert public["split"]["link"] == "bucket"
    assert public["split"]["columns"][1] == ["bucket", "dx", "cost"]
    assert "No false value was introduced." in public["truthful"]


@pytest.mark.parametrize("name", ["out.csv", "out.sensitive.csv"])
def test_neither_file_may_be_exchanged(files, tmp_path, name):  # noqa: F811
    release = shoal.anonymize(both(files, "disk")[0], asked_of(Apart()))
    release.save(tmp_path / "out.csv")
    assert shoal.read(tmp_path / name).records == release.part.promise.whole.records
    with (tmp_path / name).open("a") as file:
        file.write("\n")
    with pytest.raises(ReadError, match="does not match the hash in 'out.csv.manifest.json'"):
        shoal.read(tmp_path / name)


def test_verbs_for_one_table_refuse_two(files):  # noqa: F811
    table = both(files, "disk")[0]
    release = shoal.anonymize(table, asked_of(Apart()))
    for verb in (shoal.compare, shoal.attack, shoal.report):
        with pytest.raises(ReleaseError, match="The release has 2 tables"):
            verb(table, release)
    assert "released in" in repr(release)
    assert "The table is split into 'release', 'release.sensitive', linked by column 'bucket'." in release.notes
    show(release, console())
    assert release.to_dict()["split"] == ["sensitive"]


@pytest.mark.parametrize(
    ("technique", "problem"),
    [
        (Apart(coarse=True), "links records with different quasi-identifiers"),
        (Apart(columns=("age",)), "splits off column 'age'"),
        (Apart(columns=()), "splits off no column"),
    ],
)
def test_groups_are_records_that_look_alike(files, technique, problem):  # noqa: F811
    with pytest.raises(ReleaseError, match=problem):
        shoal.anonymize(both(files, "disk")[0], asked_of(technique))
