"""Tables that belong together, from a server and back: all of them, or none."""

import pytest
from tests.databases.test_databases import Cut, assert_silent, in_order
from tests.dataset.test_dataset import KEY, POLICY, hospital

import shoal
from shoal.errors import WriteError


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("SHOAL_TEST_KEY", KEY)


def filled(server, given):
    for name, table in given.items():
        shoal.write(shoal.read(table), f"{server.url}?table={name}")


def test_read_anonymized_and_written_back(server, tmp_path):
    given, policy = hospital(), shoal.Policy.parse(POLICY)
    filled(server, given)
    found = shoal.anonymize_dataset(server.url, policy)
    expected = shoal.anonymize_dataset(given, policy)
    with pytest.raises(WriteError, match="already"):
        found.save(server.url, beside=tmp_path)
    with pytest.raises(WriteError, match="read from"):
        found.save(server.url, beside=tmp_path, force=True)
    server.run(*(f"ALTER TABLE {name} RENAME TO given_{name}" for name in given))
    found.save(server.url, beside=tmp_path)
    for name in given:
        back = in_order(shoal.read(f"{server.url}?table={name}"))
        assert back.to_pylist() == in_order(expected.tables[name]).to_pylist(), name
    lost = "SELECT count(*) FROM {} a LEFT JOIN {} b ON a.{} = b.{} WHERE b.{} IS NULL"
    assert server.rows(lost.format("stays", "patients", *["patient"] * 3)) == [(0,)]
    assert server.rows(lost.format("lab", "stays", *["stay"] * 3)) == [(0,)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset.internal.json", "dataset.manifest.json"]
    assert server.tables() == ["lab", "patients", "stays"]


def test_a_lost_connection_leaves_all_tables_as_they_were(server, tmp_path):
    given = hospital()
    filled(server, given)
    before = {name: in_order(shoal.read(f"{server.url}?table={name}")) for name in given}
    found = shoal.anonymize_dataset(server.url, shoal.Policy.parse(POLICY))
    hook = Cut(server, "writing", after=3)
    with pytest.raises(WriteError) as caught:
        found.save(server.url, beside=tmp_path, force=True, progress=hook)
    assert hook.cut >= 1
    assert_silent(caught)
    assert {name: in_order(shoal.read(f"{server.url}?table={name}")) for name in given} == before
    assert server.tables() == sorted(given)
    assert list(tmp_path.iterdir()) == []
