"""Tables of real servers: read, anonymized, written back; and what happens when the connection is lost."""

import gc
import json
import signal
import subprocess
import sys
import traceback
from datetime import UTC, date, datetime, time
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from tests.databases.conftest import PASSWORD

import shoal
from shoal.cli import main
from shoal.errors import ColumnError, ReadError, ReleaseError, ShoalError, WriteError
from shoal.table.databases.server import Server
from shoal.table.reading import read_sample

TEXTS = ["y" * 70_000, "", " ", "a,b", 'say "no"', "O'Neil", "back\\slash", "two\nlines", "\r\n", "NULL", "NaN", "\\N",
         "\\.", "ä€😀", "%s", ":x", "{x}", "tab\there", "f", "true", "-1", "x" * 300, None]  # fmt: skip
POLICY = """
version = 1
data.subject = "id"
columns.sex = "quasi"
columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 50] } }
columns.dx = "sensitive"
columns.seen = "insensitive"
require = [{ model = "k-anonymity", k = 5 }]
search.suppression = 0.2
"""


def url(server, table):
    return f"{server.url}?table={table}"


def patients(rows=2000):
    rng = np.random.default_rng(7)
    ages = [None if age == 40 else int(age) for age in rng.integers(20, 90, rows)]
    days = [date(2024, 1, 1 + int(day)) for day in rng.integers(0, 28, rows)]
    words = np.array(["f", "m"])[rng.integers(0, 2, rows)].tolist()
    ills = np.array(["flu", "gout", "grüne – Galle", 'O\'x, "y"'])[rng.integers(0, 4, rows)].tolist()
    return pa.table({"id": list(range(rows)), "sex": words, "age": ages, "dx": ills, "seen": days})


def split(table):
    return shoal.anonymize(table, shoal.Policy.parse(POLICY + 'search.publish = "permutation"\n'))


def in_order(table):
    arrow = table.to_arrow() if isinstance(table, shoal.Table) else table
    return arrow.sort_by([(name, "ascending") for name in arrow.column_names])


def test_every_type_comes_back(server):
    moment = datetime(2024, 2, 29, 23, 59, 58, 123456)
    zone = {} if server.admin.dialect.name == "mysql" else {"zoned": pa.array([moment.replace(tzinfo=UTC), None])}
    given = pa.table({
        "id": [2, 1],
        "yes": [True, None],
        "large": pa.array([2**63 - 1, -(2**63)], pa.int64()),
        "larger": pa.array([2**64 - 1, None], pa.uint64()),
        "share": [0.1 + 0.2, -1e-300],
        "price": pa.array([Decimal("61.50"), None], pa.decimal128(6, 2)),
        "day": [date(1, 1, 1), date(9999, 12, 31)],
        "moment": [moment, None],
        "clock": [time(23, 59, 59, 999999), None],
        'a b" c%': ["x", None],
        **zone,
    })  # fmt: skip
    table = shoal.read(given)
    shoal.write(table, url(server, "everything"))
    back = shoal.read(url(server, "everything"), engine="disk")
    assert back.names == table.names
    for name in table.names:
        assert back[name].labels().to_pylist() == table[name].labels().to_pylist(), name
        assert back[name].kind == table[name].kind or name == "larger"
    assert in_order(back).drop(["larger"]) == in_order(table).drop(["larger"]).cast(
        in_order(back).drop(["larger"]).schema
    )


def test_every_text_comes_back(server):
    table = shoal.read(pa.table({"id": list(range(len(TEXTS))), "text": TEXTS}))
    shoal.write(table, url(server, "texts"))
    assert in_order(shoal.read(url(server, "texts"))).column("text").to_pylist() == TEXTS
    rows = server.rows("SELECT text FROM texts ORDER BY id")
    assert [row[0] for row in rows] == TEXTS


def test_what_others_wrote_is_read_as_it_is(server):
    made = sa.Table(
        "others", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("code", sa.CHAR(4)),
        sa.Column("kind", sa.Enum("a", "b", name="kinds")),
        sa.Column("text", sa.Text().with_variant(mysql.TEXT(charset="utf8mb4"), "mysql")),
        sa.Column("yes", sa.Boolean), sa.Column("half", sa.Numeric), sa.Column("real", sa.Float),
        sa.Column("key", sa.Uuid),
    )  # fmt: skip
    rows = [
        {"id": 3, "code": "A1", "kind": "b", "text": "", "yes": True, "half": 1, "real": 0.5, "key": None},
        {"id": 1, "code": None, "kind": None, "text": None, "yes": None, "half": None, "real": None, "key": None},
        {"id": 2, "code": "", "kind": "a", "text": "ä€😀", "yes": False, "half": 2, "real": -1.25, "key": None},
    ]
    with server.admin.begin() as connection:
        made.create(connection)
        connection.execute(made.insert(), rows)
    found = shoal.read(url(server, "others")).to_arrow().to_pydict()
    assert found["id"] == [1, 2, 3]  # in the order of the key
    assert found["code"] == [None, "", "A1"]  # without the blanks of a column of fixed width
    assert found["kind"] == [None, "a", "b"]
    assert found["text"] == [None, "ä€😀", ""]
    assert [None if one is None else bool(one) for one in found["yes"]] == [None, False, True]
    assert found["half"] == [None, 2, 1]
    assert found["real"] == [None, -1.25, 0.5]


def test_times_do_not_depend_on_the_zone_of_the_server(server):
    server.run("CREATE TABLE seen (at timestamp NULL)", "INSERT INTO seen VALUES ('2024-01-31 12:00:00')")
    if server.admin.dialect.name == "mysql":  # such a column is kept in UTC, and was filled in Tokyo
        assert shoal.read(url(server, "seen")).to_arrow().to_pydict() == {"at": [datetime(2024, 1, 31, 3)]}
    else:
        server.run("ALTER TABLE seen ADD zoned timestamptz", "UPDATE seen SET zoned = '2024-01-31 12:00:00+09'")
        found = shoal.read(url(server, "seen")).to_arrow().to_pydict()
        assert found == {"at": [datetime(2024, 1, 31, 12)], "zoned": [datetime(2024, 1, 31, 3, tzinfo=UTC)]}


def test_no_row_is_lost_in_one_column_of_gaps(server):
    server.run("CREATE TABLE gaps (x integer)", "INSERT INTO gaps VALUES (NULL), (1), (NULL), (NULL)")
    assert sorted(shoal.read(url(server, "gaps")).counts("x").tolist()) == [1, 3]
    server.run("CREATE TABLE words (x text)", "INSERT INTO words VALUES (NULL), (''), (NULL), ('')")
    table = shoal.read(url(server, "words"))
    assert (table.records, table["x"].missing, len(table["x"].values)) == (4, True, 1)
    server.run("CREATE TABLE none (x integer, y text)")
    assert shoal.read(url(server, "none")).records == 0


def test_numbers_without_a_scale_keep_all_their_decimals(postgresql, server):
    if server is not postgresql:
        return
    server.run("CREATE TABLE labs (x numeric, y numeric, z double precision)")
    server.run("INSERT INTO labs VALUES (1.25, 3, 'NaN'), (-0.125, 12345678901234567890, 'Infinity'), ('NaN', NULL, 0)")
    found = shoal.read(url(server, "labs")).to_arrow()
    assert found.column("x").to_pylist() == [Decimal("1.250"), Decimal("-0.125"), None]
    assert found.schema.field("y").type == pa.decimal128(38, 0)
    assert found.column("z").to_pylist() == [None, float("inf"), 0.0]
    server.run("CREATE TABLE fine (x numeric)", "INSERT INTO fine VALUES (0.1234567890123456789)")
    with pytest.raises(ColumnError, match="'x'"):
        shoal.read(url(server, "fine"))
    server.run("CREATE TABLE ever (day date)", "INSERT INTO ever VALUES ('infinity')")
    with pytest.raises(ColumnError, match="'day'"):
        shoal.read(url(server, "ever"))


def test_what_is_no_single_value_can_be_left_out(server):
    server.run("CREATE TABLE odd (id integer, more json)", "INSERT INTO odd VALUES (1, '{\"a\": 1}')")
    if server.admin.dialect.name != "mysql":  # where json is text
        with pytest.raises(ColumnError, match="'more'"):
            shoal.read(url(server, "odd"))
    assert shoal.read(url(server, "odd"), columns=["id"]).names == ("id",)


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_read_anonymize_write_back(server, engine, tmp_path):
    given, policy = shoal.read(patients()), shoal.Policy.parse(POLICY)
    shoal.write(given, url(server, "patients"))
    held = shoal.read(url(server, "patients"), engine=engine)
    release = shoal.anonymize(held, policy)
    expected = shoal.anonymize(given, policy)
    written = release.save(url(server, "released"), beside=tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    kept = ["origins.json"] if engine == "memory" else []
    assert sorted(path.name for path in files) == sorted(
        ["released.manifest.json", "internal.json", "mapping.json", *kept]
    )
    assert server.tables() == ["patients", "released"]
    names = ", ".join(expected.table.names)
    found = server.rows(f"SELECT {names} FROM released")
    assert sorted(map(str, found)) == sorted(str(tuple(row.values())) for row in expected.table.to_arrow().to_pylist())
    told = " ".join(path.read_text() for path in files) + str(written)
    assert PASSWORD not in told
    manifest = json.loads((tmp_path / "released.manifest.json").read_text())
    assert len(manifest["table_fingerprint"]) == 64
    assert "file_sha256" not in manifest


def test_a_table_that_is_split_becomes_two(server, tmp_path):
    given = shoal.read(patients())
    written = split(given).save(url(server, "released"), beside=tmp_path)
    assert server.tables() == ["released", "released_values"]
    assert [str(place).rpartition(" ")[2] for place in written[:2]] == server.tables()
    groups, others = (server.rows(f"SELECT bucket FROM {name}") for name in server.tables())
    assert sorted(groups) == sorted(others)
    manifest = json.loads((tmp_path / "released.manifest.json").read_text())
    assert len(manifest["tables"]["release.values"]) == len(manifest["table_fingerprint"]) == 64


def test_a_table_that_is_there_is_replaced_only_if_told_to(server):
    first, second = shoal.read({"x": [1, 2]}), shoal.read({"y": ["a"]})
    shoal.write(first, url(server, "t"))
    with pytest.raises(WriteError, match="already"):
        shoal.write(second, url(server, "t"))
    for other in (url(server, "t"), url(server, "t").replace("127.0.0.1", "localhost")):
        with pytest.raises(WriteError, match="read from"):
            shoal.write(shoal.read(url(server, "t")), other, force=True)
    assert in_order(shoal.read(url(server, "t"))) == first.to_arrow()
    shoal.write(second, url(server, "t"), force=True)
    assert shoal.read(url(server, "t")).to_arrow() == second.to_arrow()
    assert server.tables() == ["t"]


def test_a_table_that_others_hang_on_stays(server):
    shoal.write(shoal.read({"x": [1]}), url(server, "t"))
    if server.admin.dialect.name == "mysql":
        server.run("ALTER TABLE t ADD PRIMARY KEY (x)", "CREATE TABLE u (y bigint, FOREIGN KEY (y) REFERENCES t (x))")
    else:
        server.run("CREATE VIEW u AS SELECT x FROM t")
    before = server.tables()
    with pytest.raises(WriteError):
        shoal.write(shoal.read({"x": [2]}), url(server, "t"), force=True)
    assert (server.rows("SELECT x FROM t"), server.tables()) == ([(1,)], before)
    server.run("DROP TABLE u" if server.admin.dialect.name == "mysql" else "DROP VIEW u")


def test_numbers_and_times_are_not_rounded(server):
    floats, times = [1000001, 1000002, 16777215, 0.12345679], ["23:59:59.999999", "00:00:00"]
    single = "float" if server.admin.dialect.name == "mysql" else "real"
    server.run(f"CREATE TABLE n (x {single})", *(f"INSERT INTO n VALUES ({one})" for one in floats))
    found = shoal.read(url(server, "n")).to_arrow().column("x").to_pylist()
    assert np.float32(found).tolist() == np.float32(floats).tolist()
    given = shoal.read(pa.table({"x": pa.array([0.1, 1e-30], pa.float32())}))
    shoal.write(given, url(server, "single"))
    assert sorted(shoal.read(url(server, "single"))["x"].values.to_pylist()) == sorted(given["x"].values.to_pylist())
    server.run("CREATE TABLE c (x time(6))", *(f"INSERT INTO c VALUES ('{one}')" for one in times))
    assert {str(one) for one in shoal.read(url(server, "c"))["x"].values.to_pylist()} == {*times}
    if server.admin.dialect.name == "mysql":
        server.run("INSERT INTO c VALUES ('25:00:00')")
        with pytest.raises(ColumnError, match="'x'"):
            shoal.read(url(server, "c"))
    else:
        server.run("CREATE TABLE bits (a bit(3), b bit varying(3))", "INSERT INTO bits VALUES (B'001', B'01')")
        assert shoal.read(url(server, "bits")).to_arrow().to_pydict() == {"a": ["001"], "b": ["01"]}


class Cut:
    """A hook that cuts all connections when something has begun."""

    def __init__(self, server, note, after=2):
        self.server, self.note, self.left, self.cut = server, note, after, 0

    def __call__(self, progress):
        if progress.note == self.note:
            self.left -= 1
            if self.left == 0:
                self.cut = self.server.cut()


@pytest.mark.parametrize("force", [False, True])
def test_a_lost_connection_leaves_no_partial_table(server, force):
    if force:
        shoal.write(shoal.read({"old": [1]}), url(server, "released"))
    before = server.tables()
    hook = Cut(server, "writing")
    with pytest.raises(WriteError, match="lost") as caught:
        shoal.write(shoal.read(patients(200_000)), url(server, "released"), force=force, progress=hook)
    assert hook.cut >= 1
    assert server.tables() == before
    assert not force or server.rows("SELECT old FROM released") == [(1,)]
    assert_silent(caught)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of pymysql, when it is tidied away
def test_a_connection_lost_while_reading_is_told(server):
    last = 100_000
    shoal.write(shoal.read({"x": [f"{number:0400}" for number in range(last + 1)]}), url(server, "patients"))
    if server.admin.dialect.name == "mysql":
        wait = f"IF(x = '{last:0400}', SLEEP(60), 0)"
    else:  # to count must not take as long
        made = "CREATE OR REPLACE FUNCTION nap(x text) RETURNS text IMMUTABLE LANGUAGE plpgsql"
        server.run(f"{made} AS 'BEGIN PERFORM pg_sleep(60); RETURN x; END'")
        wait = f"CASE WHEN x = '{last:0400}' THEN nap(x) END"
    server.run(f"CREATE VIEW slow AS SELECT x, {wait} AS y FROM patients")
    hook = Cut(server, "reading", after=1)
    with pytest.raises(ReadError) as caught:
        shoal.read(url(server, "slow"), progress=hook)
    server.run("DROP VIEW slow")
    assert hook.cut >= 1
    assert_silent(caught)
    del caught
    gc.collect()


def test_a_table_that_is_not_what_was_promised_does_not_appear(server, monkeypatch, tmp_path):
    release = shoal.anonymize(shoal.read(patients()), shoal.Policy.parse(POLICY))
    fill = type(database(server)).fill

    def tampered(self, connection, made, table, progress):
        fill(self, connection, made, table, progress)
        of = connection.dialect.identifier_preparer
        connection.exec_driver_sql(f"UPDATE {of.format_table(made)} SET dx = 'gout' WHERE dx = 'flu'")

    monkeypatch.setattr(type(database(server)), "fill", tampered)
    with pytest.raises(ReleaseError):
        release.save(url(server, "released"), beside=tmp_path)
    assert server.tables() == []
    assert list(tmp_path.iterdir()) == []


def database(server) -> Server:
    from shoal.table.databases.database import Address, database_of

    return database_of(Address.parse(server.url))


KILLED = """
import os, sys, shoal
def hook(progress):
    if progress.note == "writing" and progress.done > 40_000:
        print("writing", flush=True)
        import time; time.sleep(60)
shoal.write(shoal.read(sys.argv[1]), sys.argv[2], force=True, progress=hook)
"""


def test_kill_in_the_middle_leaves_the_old_table(server, tmp_path):
    shoal.write(shoal.read({"old": [1]}), url(server, "released"))
    shoal.write(shoal.read(patients(100_000)), tmp_path / "patients.parquet")
    command = [sys.executable, "-c", KILLED, str(tmp_path / "patients.parquet"), url(server, "released")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGKILL)
    assert server.rows("SELECT old FROM released") == [(1,)]
    hidden = [name for name in server.tables() if name != "released"]
    assert all(name.startswith("shoal_partial_") for name in hidden)
    assert not hidden or server.admin.dialect.name == "mysql"  # where making a table cannot be undone
    for name in hidden:
        assert server.rows(f"SELECT count(*) FROM {name}") == [(0,)]  # its rows are not there


def assert_silent(caught):
    """Neither the message nor what a traceback would show holds the password."""
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert PASSWORD not in shown
    assert "geheim" not in shown


@pytest.mark.parametrize("given", ["environment", "variable", "file", "address"])
def test_where_the_password_comes_from(server, given, monkeypatch, tmp_path):
    server.run("CREATE TABLE t (x integer)", "INSERT INTO t VALUES (1)")
    address = url(server, "t")
    if given != "environment":
        monkeypatch.delenv("SHOAL_PASSWORD")
        with pytest.raises(ReadError):
            shoal.read(address)
    if given == "variable":
        monkeypatch.setenv("ANOTHER", PASSWORD)
        address += "&password_variable=ANOTHER"
    if given == "file":
        (tmp_path / "secret").write_text(f"{PASSWORD}\n")
        address += f"&password_file={tmp_path / 'secret'}"
    if given == "address":
        address = address.replace(
            "shoal@", f"shoal:{PASSWORD.replace(':', '%3A').replace('/', '%2F').replace('@', '%40')}@"
        )
    assert shoal.read(address).records == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("shoal@", "nobody@"), "the password is wrong"),
        (("shoal@", "shoal:geheim-wrong@"), "the password is wrong"),
        (("/postgres?", "/elsewhere?"), "no such database"),
        (("/hospital?", "/elsewhere?"), "cannot be reached"),
        (("table=patients", "table=patient"), "Did you mean 'patients'"),
        (("table=patients", "table=nowhere.patients"), "no table 'nowhere.patients'"),
        (("?table=patients", "?password_variable=NONE_SUCH"), "NONE_SUCH"),
        (("?table=patients", "?password_file=/none/such"), "/none/such"),
    ],
)
def test_what_is_wrong_is_told_without_secrets(server, change, says):
    if change[0] not in url(server, "patients"):
        return
    server.run("CREATE TABLE patients (x integer)")
    with pytest.raises(ReadError, match=says) as caught:
        shoal.read(url(server, "patients").replace(*change))
    assert_silent(caught)


def test_nobody_answers(server):
    gone = server.url.replace("127.0.0.1:", "127.0.0.1:1").split("/postgres")[0][:-1]
    with pytest.raises(ReadError, match="cannot be") as caught:
        shoal.read(f"{server.url.split('@')[0]}@127.0.0.1:1/x?table=t")
    assert_silent(caught)
    assert gone


def test_the_table_need_not_be_named_if_there_is_one(server):
    server.run("CREATE TABLE only_one (x integer)", "INSERT INTO only_one VALUES (1)")
    assert shoal.read(server.url).records == 1
    server.run("CREATE VIEW another AS SELECT x + 1 AS y FROM only_one")
    with pytest.raises(ReadError, match="several tables"):
        shoal.read(server.url)
    assert shoal.read(server.url, table="another").to_arrow().to_pydict() == {"y": [2]}
    with pytest.raises(ReadError, match="Two tables"):
        shoal.read(url(server, "only_one"), table="another")
    server.run("DROP VIEW another")


def test_options_that_mean_nothing_are_refused(server):
    server.run("CREATE TABLE t (x integer)")
    for options in ({"separator": ";"}, {"format": "csv"}, {"engine": "duckdb"}, {"sheet": "x"}):
        with pytest.raises(ReadError):
            shoal.read(url(server, "t"), **options)
    with pytest.raises(WriteError, match="separator"):
        shoal.write(shoal.read({"x": [1]}), url(server, "u"), separator=";")
    with pytest.raises(WriteError, match="names no"):
        shoal.write(shoal.read({"x": [1]}), server.url)


def test_what_a_server_cannot_hold_is_refused_before(server):
    refused = [shoal.read({"x" * 100: [1]}), shoal.read(pa.table({"x": pa.array([1], pa.timestamp("ns"))}))]
    if server.admin.dialect.name == "mysql":
        refused += [shoal.read({"Age": [1], "age": [2]}), shoal.read({f"c{one}": ["x"] for one in range(300)})]
        refused += [shoal.read({"x": [float("inf")]}), shoal.read({"x": [datetime(2024, 1, 1, tzinfo=UTC)]})]
    else:
        refused += [shoal.read({"x": ["a\0b"]})]
    for table in refused:
        with pytest.raises(WriteError, match="cannot be written as"):
            shoal.write(table, url(server, "t"))
    assert server.tables() == []


def test_a_sample_tells_how_many_there_are(server):
    shoal.write(shoal.read(patients(5000)), url(server, "patients"))
    table, records = read_sample(url(server, "patients"), most=500)
    assert records == 5000
    assert 300 < table.records < 700
    assert read_sample(url(server, "patients"), most=500)[0].to_arrow() == table.to_arrow()
    assert shoal.plan(url(server, "patients"), shoal.Policy.parse(POLICY)).records == 5000


def test_command_line(server, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shoal.write(shoal.read(patients()), url(server, "patients"))
    (tmp_path / "policy.toml").write_text(POLICY)
    secret = PASSWORD.replace(":", "%3A").replace("/", "%2F").replace("@", "%40")
    monkeypatch.delenv("SHOAL_PASSWORD")
    source, target = (url(server, name).replace("shoal@", f"shoal:{secret}@") for name in ("patients", "released"))
    for words in (
        ["assess", source, "--policy", "policy.toml"],
        ["init", source, "-o", "new.toml"],
        ["anonymize", source, "--policy", "policy.toml", "-o", target],
        ["anonymize", source, "--policy", "policy.toml", "-o", target, "--force", "--json"],
        ["compare", source, source, target, "--quasi", "sex", "--qualities", "suppressed-records", "--json"],
        ["identify", source],
        ["plan", source, "--policy", "policy.toml"],
    ):
        monkeypatch.setattr(sys, "argv", ["shoal", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in {0, 1}, words
        told = "".join(capsys.readouterr())
        assert "geheim" not in told, words
        assert secret not in told, words
    monkeypatch.setattr(sys, "argv", ["shoal", "anonymize", source, "--policy", "policy.toml", "-o", source])
    with pytest.raises(SystemExit):
        main()
    assert "overwrite its own input" in "".join(capsys.readouterr())
    kept = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert "geheim" not in kept
    assert secret not in kept
    assert server.tables() == ["patients", "released"]


def test_errors_are_of_one_kind(server):
    with pytest.raises(ShoalError):
        shoal.read(server.url.replace("postgresql:", "postgre:").replace("mariadb:", "mariad:"))
