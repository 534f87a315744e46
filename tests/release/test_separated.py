"""A table that is released in two parts: sensitive values cannot be attributed to single records of a bucket."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.cli.anonymize import show
from shoal.cli.output import console
from shoal.errors import PolicyError, ReadError, ReleaseError
from shoal.release import saving
from tests.effort import pairwise
from tests.engines.test_contract import WHOSE, both, files, policy, way  # noqa: F401 - fixtures

KEY = "a key that is long enough"
BUCKETS = '{ kind = "buckets", l = 2 }'
SLICES = '{ kind = "slicing", l = 2, groups = 3 }'


def asked_of(form='"permutation"', *, several=False):
    """Return the policy of the other tests, with a key and a form of the release."""
    asked = policy(several, f"publish = {form}")
    other = shoal.Policy.parse(
        'version = 1\ndraw.key_variable = "SPLIT_KEY"\n'
        'require = [{ model = "k-anonymity", k = 5 }, { model = "l-diversity", l = 2 }]'
    )
    return asked.model_copy(update={"draw": other.draw, "require": other.require})


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SPLIT_KEY", KEY)


def rows(frame, *names):
    return zip(*(frame[name].to_pylist() for name in names), strict=True)


@pairwise(
    engine=["disk", "duckdb"],
    form=['"permutation"', BUCKETS],
    subject=[None, "who"],
    way=["counted", "sorted"],
    indirect=["way"],
)
def test_both_tables_are_the_same_on_every_engine(files, engine, form, subject, way, tmp_path):  # noqa: F811
    check_engine(files, engine, form, subject, tmp_path)


@pytest.mark.parametrize("engine", ["disk", "duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def test_slices_are_the_same_on_every_engine(files, engine, tmp_path):  # noqa: F811
    releases = [shoal.anonymize(table, asked_of(SLICES)) for table in both(files, engine)]
    for number, release in enumerate(releases):
        release.save(tmp_path / f"{number}.csv")
    mine, theirs = ({file.name[1:]: file.read_bytes() for file in tmp_path.glob(f"{n}*.csv")} for n in range(2))
    assert mine == theirs
    assert len(mine) == len(releases[0].tables) > 2


@pytest.mark.spark
@pytest.mark.parametrize(
    ("form", "subject", "way"), [('"permutation"', None, "counted"), (BUCKETS, "who", "sorted")], indirect=["way"]
)
def test_both_tables_are_the_same_on_spark(files, form, subject, way, tmp_path):  # noqa: F811
    check_engine(files, "spark", form, subject, tmp_path)


def check_engine(files, engine, form, subject, tmp_path):  # noqa: F811
    """See that an engine writes the same bytes as memory does."""
    asked = asked_of(form, several=bool(subject))
    for number, table in enumerate(both(files, engine, "several" if subject else "alone")):
        release = shoal.anonymize(table, asked)
        release.save(tmp_path / f"{number}.csv")
        release.save(tmp_path / f"{number}.parquet")
    for name in ("csv", "values.csv", "parquet", "values.parquet", "csv.owner-only/internal.json"):
        mine, theirs = ((tmp_path / f"{number}.{name}").read_bytes() for number in range(2))
        assert mine.replace(b"0.values", b"1.values") == theirs
    first, second = (pq.read_table(tmp_path / f"0.{name}") for name in ("parquet", "values.parquet"))
    assert second.column_names == ["bucket", "dx"]
    assert {"bucket", "cost", "age", "sex", "place"} <= {*first.column_names}
    assert "dx" not in first.column_names


def test_classes_with_their_values(files):  # noqa: F811
    """Joined by bucket, both tables hold the values of the classes of an undivided release."""
    table = both(files, "disk")[0]
    first, second = (table.to_frame("pyarrow") for table in shoal.anonymize(table, asked_of()).tables.values())
    whole = shoal.anonymize(table, asked_of('"table"'))
    assert np.array_equal(np.sort(first["bucket"]), np.sort(second["bucket"]))
    shown = {bucket: row for bucket, *row in rows(first, "bucket", "age", "sex", "place", "born")}
    assert len(shown) == whole.classes
    pairs = Counter((*shown[bucket], dx) for bucket, dx in rows(second, "bucket", "dx"))
    assert pairs == Counter(rows(whole.to_frame("pyarrow"), "age", "sex", "place", "born", "dx"))


@WHOSE
def test_buckets_of_individuals(files, whose, subject):  # noqa: F811
    """Counted from the released tables and the record mapping: what nobody but the owner can count."""
    table = both(files, "disk", whose)[0]
    release = shoal.anonymize(table, asked_of(BUCKETS, several=bool(subject)))
    first, second = (table.to_frame("pyarrow") for table in release.tables.values())
    held = {}
    for bucket, dx in rows(second, "bucket", "dx"):
        held.setdefault(bucket, []).append(dx)
    assert all(len(values) == len(set(values)) >= 2 for values in held.values())
    original = table.to_frame("pyarrow")
    whose = original["who"].to_pylist() if subject else range(table.records)
    places = set()
    for bucket, record in zip(first["bucket"].to_pylist(), release.part.records.tolist(), strict=True):
        dx = original["dx"][record].as_py()
        assert dx in held[bucket]
        places.add((bucket, dx, whose[record]))
    assert len(places) == second.num_rows  # each individual and value has one place
    assert len({(bucket, person) for bucket, _, person in places}) == len(places)  # nobody has two in a bucket


def test_the_numbers_of_groups_hang_on_the_key_and_tell_no_order(files, monkeypatch):  # noqa: F811
    table = both(files, "disk")[0]
    release = shoal.anonymize(table, asked_of())
    again = shoal.anonymize(table, asked_of())
    monkeypatch.setenv("SPLIT_KEY", f"{KEY}, and another")
    other = shoal.anonymize(table, asked_of())
    frames = [
        {name: table.to_frame("pyarrow") for name, table in found.tables.items()} for found in (release, again, other)
    ]
    assert list(frames[0]) == ["release", "release.values"]
    assert frames[0] == frames[1]
    assert frames[0] != frames[2]
    buckets = frames[0]["release"]["bucket"].to_numpy()
    assert sorted(set(buckets.tolist())) == list(range(1, len(set(buckets.tolist())) + 1))
    assert not (np.diff(buckets) >= 0).all()  # rows are sorted by what they show, and groups are not


def test_what_was_written_is_compared_and_judged(files, tmp_path, monkeypatch):  # noqa: F811
    table = both(files, "disk")[0]
    release = shoal.anonymize(table, asked_of())
    written = saving.write

    def tampered(table, path, **options):
        if "values" in path.name:  # all values are there, in other groups
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
    release = shoal.anonymize(both(files, "disk")[0], asked_of())
    saved = release.save(tmp_path / "out.csv")
    assert [path.name for path in saved[:3]] == ["out.csv", "out.values.csv", "out.csv.manifest.json"]
    public = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert list(public["files"]) == ["out.values.csv"]
    assert public["split"]["link"] == "bucket"
    assert public["split"]["columns"][1] == ["bucket", "dx"]
    assert "No false value was introduced." in public["truthful"]


@pytest.mark.parametrize("name", ["out.csv", "out.values.csv"])
def test_neither_file_may_be_exchanged(files, tmp_path, name):  # noqa: F811
    release = shoal.anonymize(both(files, "disk")[0], asked_of())
    release.save(tmp_path / "out.csv")
    assert shoal.read(tmp_path / name).records == release.part.promise.whole.records
    with (tmp_path / name).open("a") as file:
        file.write("\n")
    with pytest.raises(ReadError, match="does not match the hash in 'out.csv.manifest.json'"):
        shoal.read(tmp_path / name)


def test_what_is_said_of_two_tables(files):  # noqa: F811
    table = both(files, "disk")[0]
    release = shoal.anonymize(table, asked_of())
    with pytest.raises(ReleaseError, match="The release has 2 tables"):
        _ = release.table
    assert "released in" in repr(release)
    assert "The table is split into 'release', 'release.values', linked by column 'bucket'." in release.notes
    show(release, console())
    assert release.to_dict()["split"] == ["values"]


def test_more_different_values_than_there_can_be(files):  # noqa: F811
    with pytest.raises(PolicyError, match=r"The largest possible l is \d+\."):
        shoal.anonymize(both(files, "disk")[0], asked_of('{ kind = "buckets", l = 4 }'))
