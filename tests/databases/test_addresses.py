"""Addresses of databases: what they say, and what they never show."""

import re
from urllib.parse import quote

import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import mssql, oracle
from sqlalchemy.schema import CreateTable

import shoal
from shoal.errors import ReadError, ShoalError, WriteError
from shoal.table.databases.database import DATABASES, Address, database_of, is_address

SECRETS = st.lists(st.characters(codec="utf-8", min_codepoint=33), min_size=8, unique=True).map("".join)


@given(SECRETS)
def test_a_password_is_kept_and_never_shown(secret):
    address = Address.parse(f"postgresql://ann:{quote(secret, safe='')}@host:5432/hospital?table=patients")
    assert address.password() == secret
    assert (address.user, address.host, address.port, address.name) == ("ann", "host", 5432, "patients")
    assert secret not in f"{address} {address!r} {address.of(None)!r}"


@given(SECRETS)
def test_an_address_that_is_wrong_is_not_quoted(secret):
    for text in (f"postgresql://ann:{secret}@host:port/x", f"nowhere://ann:{quote(secret, safe='')}@host/x"):
        try:
            shoal.read(text)
        except ShoalError as error:
            assert secret not in str(error)
            assert quote(secret, safe="") not in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql//ann:secret@h/x",
        "ann:secret@h/x",
        "jdbc:postgresql://ann:secret@h/x",
        "*ann:secret@h/x",
        "/a:secret@x",
    ],
)
def test_what_may_be_an_address_is_not_shown(text):
    with pytest.raises(ReadError) as caught:
        shoal.read(text)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["postgresql:/ann:secret@h/x", "mysql:ann:secret@h/x", "mysql://ann:se/cret@h/x"])
def test_an_address_with_a_slip_is_not_taken_for_a_path(text):
    with pytest.raises(ReadError, match="The address of the database is not valid") as caught:
        shoal.read(text)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("postgresql://localhost/x", True),
        ("spark:hospital.patients", True),
        ("nowhere://x", True),
        (" postgresql://ann:secret@localhost/x", True),
        ("postgresql:/ann:secret@localhost/x", True),
        ("C:\\patients.csv", False),
        ("C:/patients.csv", False),
        ("patients:2024.csv", False),
        ("folder/*.csv", False),
    ],
)
def test_what_is_an_address(text, yes):
    assert is_address(text) is yes


def test_a_file_whose_name_looks_like_none_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ward:a.csv").write_text("x\n1\n")
    assert shoal.read("ward:a.csv").records == 1


def test_unknown_schemes_are_told():
    with pytest.raises(ReadError, match=re.escape("Did you mean 'postgresql'")):
        shoal.read("postgresq://localhost/x?table=y")


def test_what_speaks_to_a_server_must_be_installed():
    for url, extra in (("mssql://host/x?table=y", "sqlserver"), ("oracle://host/x?table=y", "oracle")):
        with pytest.raises(ReadError, match=re.escape(f"shoal[{extra}]")):
            shoal.read(url)


EVERYTHING = pa.table({
    "text": ["ä", None],
    "long": ["x" * 5000, "y"],
    "number": [1.5, None],
    "whole": [1, 2],
    "moment": pa.array([0, None], pa.timestamp("us")),
})  # fmt: skip


@pytest.mark.parametrize(
    ("name", "dialect", "types"),
    [
        ("sqlserver", mssql.dialect(), ["NVARCHAR(1)", "NVARCHAR(max)", "DOUBLE PRECISION", "BIGINT", "DATETIME2(6)"]),
        ("oracle", oracle.dialect(), ["VARCHAR2(1 CHAR)", "CLOB", "BINARY_DOUBLE", "NUMBER(19, 0)", "TIMESTAMP"]),
    ],
)
def test_tables_of_servers_that_are_not_at_hand(name, dialect, types):
    database = DATABASES[name]
    made = str(CreateTable(database._hidden(shoal.read(EVERYTHING), "research")).compile(dialect=dialect))
    found = [line.strip().split(" ", 1)[1].removesuffix(",").removesuffix(" NULL") for line in made.splitlines()[2:7]]
    assert found == types


def test_oracle_names_a_service():
    url = DATABASES["oracle"].url(Address.parse("oracle://ann@host:1521/XEPDB1?table=t"))
    assert (url.database, dict(url.query)) == ("", {"service_name": "XEPDB1"})


@pytest.mark.parametrize("values", [[""], [True], pa.array([0], pa.date32())])
def test_what_oracle_would_change_is_refused(values):
    with pytest.raises(WriteError, match="cannot be written as oracle"):
        shoal.write(shoal.read(pa.table({"x": values})), "oracle://host/x?table=t")


def test_every_database_is_found_by_its_scheme():
    for database in DATABASES.values():
        for scheme in database.schemes:
            assert database_of(Address(scheme)) is database
    assert sa.__version__
