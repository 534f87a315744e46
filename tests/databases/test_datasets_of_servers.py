"""Tables that belong together, from a server and back: all of them, or none."""

from dataclasses import replace

import pytest
import sqlalchemy as sa
from tests.databases.test_databases import Cut, assert_silent, in_order
from tests.dataset.test_dataset import KEY, POLICY, hospital

import shoal
from shoal.errors import ReadError, WriteError


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SHOAL_TEST_KEY", KEY)


def filled(server, given):
    for name, table in given.items():
        shoal.write(shoal.read(table), f"{server.url}?table={name}")


def test_read_anonymized_and_written_back(server, tmp_path):
    given, policy = hospital(), shoal.Policy.parse(POLICY)
    filled(server, given)
    found = shoal.anonymize(shoal.Dataset.read(server.url, policy))
    expected = shoal.anonymize(shoal.Dataset.read(given, policy))
    for force in (False, True):
        with pytest.raises(WriteError, match="read from"):
            found.save(server.url, beside=tmp_path, force=force)
    with pytest.raises(WriteError, match="already"):
        expected.save(server.url, beside=tmp_path)
    with pytest.raises(ReadError, match="names the table"):
        shoal.anonymize(shoal.Dataset.read(f"{server.url}?table=lab", policy))
    with server.admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("DROP DATABASE IF EXISTS research")
        connection.exec_driver_sql("CREATE DATABASE research")
    research = f"{server.url.rpartition('/')[0]}/research"
    found.save(research, beside=tmp_path / "manifests")
    for name in given:
        back = in_order(shoal.read(f"{research}?table={name}"))
        assert back.to_pylist() == in_order(expected.tables[name]).to_pylist(), name
    elsewhere = replace(
        server, admin=sa.create_engine(server.admin.url.set(database="research"), poolclass=sa.NullPool)
    )
    lost = "SELECT count(*) FROM {} a LEFT JOIN {} b ON a.{} = b.{} WHERE b.{} IS NULL"
    assert elsewhere.rows(lost.format("stays", "patients", *["patient"] * 3)) == [(0,)]
    assert elsewhere.rows(lost.format("lab", "stays", *["stay"] * 3)) == [(0,)]
    there = sorted(path.name for path in (tmp_path / "manifests").iterdir())
    assert there == ["dataset.manifest.json", "dataset.owner-only"]
    assert server.tables() == elsewhere.tables() == sorted(given)


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_lost_connection_leaves_all_tables_as_they_were(server, tmp_path, after):
    given = hospital()
    filled(server, {name: {"old": [1]} for name in given})
    found = shoal.anonymize(shoal.Dataset.read(given, shoal.Policy.parse(POLICY)))
    hook = Cut(server, "writing", after=after)
    with pytest.raises(WriteError) as caught:
        found.save(server.url, beside=tmp_path, force=True, progress=hook)
    assert hook.cut >= 1
    assert_silent(caught)
    assert all(server.rows(f"SELECT old FROM {name}") == [(1,)] for name in given)
    assert server.tables() == sorted(given)
    assert list(tmp_path.iterdir()) == []


def test_if_one_table_cannot_be_replaced_none_is(server, tmp_path):
    given = hospital()
    filled(server, {name: {"old": [1]} for name in given})
    if server.admin.dialect.name == "mysql":
        server.run("ALTER TABLE stays ADD PRIMARY KEY (old)")
        server.run("CREATE TABLE hanging (y bigint, FOREIGN KEY (y) REFERENCES stays (old))")
    else:
        server.run("CREATE VIEW hanging AS SELECT old FROM stays")
    before = server.tables()
    found = shoal.anonymize(shoal.Dataset.read(given, shoal.Policy.parse(POLICY)))
    with pytest.raises(WriteError):
        found.save(server.url, beside=tmp_path, force=True)
    assert all(server.rows(f"SELECT old FROM {name}") == [(1,)] for name in given)
    assert server.tables() == before
    assert list(tmp_path.iterdir()) == []
    server.run("DROP TABLE hanging" if server.admin.dialect.name == "mysql" else "DROP VIEW hanging")
