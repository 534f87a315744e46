"""Tables that Spark knows by name: read where they are, and written by Spark."""

import pyarrow as pa
import pytest
from tests.databases.test_databases import POLICY, in_order, patients, split
from tests.dataset import test_dataset as dataset

import shoal
from shoal.engines import spark as engine
from shoal.engines.spark import session
from shoal.errors import ReadError, ReleaseError, WriteError
from shoal.table.databases import spark as module

pytestmark = pytest.mark.spark
values = engine.SparkFrame.values


@pytest.fixture(scope="module", autouse=True)
def elsewhere(tmp_path_factory):
    """Spark keeps its tables in a folder of the tests."""
    where = tmp_path_factory.mktemp("warehouse").as_uri()
    session().sql(f"CREATE DATABASE IF NOT EXISTS hospital LOCATION '{where}'")
    yield
    session().sql("DROP DATABASE hospital CASCADE")


def names():
    return sorted(table.name for table in session().catalog.listTables("hospital"))


def test_written_and_read_by_name():
    given = pa.table({
        "id": [3, 1, 1, None],
        "text": ["ä", None, None, "x`y"],
        "share": [0.5, None, None, -1.0],
        "day": pa.array([0, None, None, 19000], pa.date32()),
        "a b": [True, None, None, False],
        "OFTEN": ["", "q", "q", "r"],
    })  # fmt: skip
    table = shoal.read(given)
    shoal.write(table, "spark:hospital.everything")
    back = shoal.read("spark:hospital.everything")
    assert in_order(back) == in_order(table)
    with pytest.raises(WriteError, match="already"):
        shoal.write(table, "spark:hospital.everything")
    shoal.write(shoal.read({"y": [1]}), "spark:hospital.everything", force=True)
    assert shoal.read("spark:hospital.everything").names == ("y",)
    assert names() == ["everything"]


def test_records_are_repeated_as_often_as_they_come(monkeypatch):
    table = shoal.read({"x": [1] * 50_000 + [2]})
    shoal.write(table, "spark:hospital.repeated", force=True)
    assert shoal.read("spark:hospital.repeated").counts("x").tolist() == [50_000, 1]
    monkeypatch.setattr(module, "_MOST", 1)
    monkeypatch.setattr(module, "_ROWS", 20_000)
    shoal.write(table, "spark:hospital.repeated", force=True)  # too many different ones: one after the other
    assert shoal.read("spark:hospital.repeated").counts("x").tolist() == [50_000, 1]


@pytest.mark.parametrize("different", [12, 3])
def test_records_that_repeat_are_counted_together(monkeypatch, different):
    """What the first records tell decides how the others are read; what is read is the same."""
    rows = [number % different for number in range(12)]
    shoal.write(shoal.read({"x": rows, "y": [str(row) for row in rows]}), "spark:hospital.repeating", force=True)
    monkeypatch.setattr(engine, "_FIRST", 6)
    asked = []
    monkeypatch.setattr(engine.SparkFrame, "values", lambda *given: asked.append(given) or values(*given))
    table = shoal.read("spark:hospital.repeating")
    assert bool(asked) == (different == 12)
    assert table.counts("x").tolist() == [12 // different] * different
    assert table.records == 12


def test_anonymized_from_table_to_table(tmp_path):
    given, policy = shoal.read(patients()), shoal.Policy.parse(POLICY)
    shoal.write(given, "spark:hospital.patients", force=True)
    release = shoal.anonymize(shoal.read("spark:hospital.patients"), policy)
    release.save("spark:hospital.released", beside=tmp_path, force=True)
    assert in_order(shoal.read("spark:hospital.released")) == in_order(shoal.anonymize(given, policy).table)
    files = [path.name.split(".")[-2] for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(files) == ["internal", "manifest", "mapping"]
    assert not [name for name in names() if "partial" in name]


def test_a_table_that_is_split_becomes_two(tmp_path):
    release = split(shoal.read(patients()))
    release.save("spark:hospital.split", beside=tmp_path, force=True)
    stored = [shoal.read(f"spark:hospital.{name}") for name in ("split", "split_values")]
    assert [in_order(table) for table in stored] == [in_order(table) for table in release.tables.values()]


def test_what_is_not_what_was_promised_does_not_appear(monkeypatch, tmp_path):
    release = shoal.anonymize(shoal.read(patients()), shoal.Policy.parse(POLICY))
    batches = module._batches

    def tampered(table):
        for batch, often in batches(table):
            yield batch, [1] * len(often)

    monkeypatch.setattr(module, "_batches", tampered)
    with pytest.raises(ReleaseError):
        release.save("spark:hospital.wrong", beside=tmp_path)
    assert "wrong" not in names()
    assert not [name for name in names() if "partial" in name]
    assert list(tmp_path.iterdir()) == []


def test_tables_that_belong_together(tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_TEST_KEY", dataset.KEY)
    given, policy = dataset.hospital(), shoal.Policy.parse(dataset.POLICY)
    session().sql("CREATE DATABASE IF NOT EXISTS town")
    for name, table in given.items():
        shoal.write(shoal.read(table), f"spark:town.{name}", force=True)
    found = shoal.anonymize(shoal.Dataset.read("spark:town", policy))
    with pytest.raises(WriteError, match="read from"):
        found.save("spark:town", beside=tmp_path, force=True)
    session().sql("CREATE DATABASE IF NOT EXISTS science")
    found.save("spark:science", beside=tmp_path, force=True)
    expected = shoal.anonymize(shoal.Dataset.read(given, policy))
    for name in given:
        back = in_order(shoal.read(f"spark:science.{name}"))
        assert back.to_pylist() == in_order(expected.tables[name]).to_pylist()
    session().sql("DROP DATABASE town CASCADE")
    session().sql("DROP DATABASE science CASCADE")


def test_the_old_table_is_put_back_if_the_new_one_cannot_have_its_name(monkeypatch):
    shoal.write(shoal.read({"old": [1]}), "spark:hospital.kept", force=True)
    rename = module._rename

    def failing(spark, hidden, name, *, there):
        class Refusing:
            def sql(self, text):
                if "RENAME TO `hospital`.`kept`" in text and "_old" not in text:
                    raise RuntimeError
                return spark.sql(text)

        rename(Refusing(), hidden, name, there=there)

    monkeypatch.setattr(module, "_rename", failing)
    with pytest.raises(WriteError):
        shoal.write(shoal.read({"new": [1]}), "spark:hospital.kept", force=True)
    assert shoal.read("spark:hospital.kept").names == ("old",)
    assert not [name for name in names() if "partial" in name]


def test_what_is_wrong_is_told():
    with pytest.raises(ReadError, match="cannot be read by Spark"):
        shoal.read("spark:hospital.nowhere")
    with pytest.raises(ReadError, match="names no"):
        shoal.read("spark://")
    with pytest.raises(WriteError, match="convert it to text"):
        shoal.write(shoal.read(pa.table({"x": pa.array([1], pa.time64("us"))})), "spark:hospital.t")
