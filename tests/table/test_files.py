"""Tables of several files, in memory and on disk."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.errors import ColumnError, ReadError

ENGINES = pytest.mark.parametrize("engine", ["memory", "disk"])


@ENGINES
def test_a_folder_of_csv_files(tmp_path, engine):
    (tmp_path / "1.csv").write_text("age;sex\n31;f\n;m\n")
    (tmp_path / "2.csv").write_text("sex;age\nm;12\nx;31\n")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".1.csv.crc").write_text("x")
    table = shoal.read(tmp_path, engine=engine)
    assert table.to_frame("pyarrow").to_pydict() == {"age": [31, None, 12, 31], "sex": ["f", "m", "m", "x"]}
    assert shoal.k_anonymity(table, quasi=["age"]) == 1


@ENGINES
def test_what_is_text_in_one_file_is_text_in_all(tmp_path, engine):
    (tmp_path / "1.csv").write_text("code,n\n12,1\n13,\n")
    (tmp_path / "2.csv").write_text("code,n\n013,2.5\n12,1\n")
    (tmp_path / "3.csv").write_text("code,n\n,\n,\n")
    table = shoal.read(str(tmp_path / "*.csv"), engine=engine)
    assert table["code"].values.to_pylist() == ["013", "12", "13"]
    assert table["n"].values.to_pylist() == [1.0, 2.5]
    assert table.counts("code").tolist() == [1, 2, 1, 2]


def test_true_and_one_are_not_the_same(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\ntrue,1\nfalse,2\n")
    (tmp_path / "2.csv").write_text("a,b\n1,1\n0,2\n")
    assert shoal.read(tmp_path)["a"].values.to_pylist() == ["0", "1", "false", "true"]


@ENGINES
def test_files_that_do_not_belong_together(tmp_path, engine):
    (tmp_path / "1.csv").write_text("a,b\nx,1\n")
    (tmp_path / "2.csv").write_text("a,c\nx,1\n")
    with pytest.raises(ReadError, match="'2.csv' has other columns than '1.csv'"):
        shoal.read(tmp_path, engine=engine)
    pq.write_table(pa.table({"a": [1]}), tmp_path / "3.parquet")
    with pytest.raises(ReadError, match="several formats"):
        shoal.read(tmp_path, engine=engine)
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "4.parquet")
    with pytest.raises(ColumnError, match="'a' is not of the same kind"):
        shoal.read(tmp_path / "*.parquet", engine=engine)


@pytest.mark.parametrize("engine", ["memory", "disk", "duckdb"])
def test_parquet_files_and_chosen_columns(tmp_path, engine):
    for number in range(3):
        data = {"age": [30 + number, 70], "name": ["A", "B"], "dx": ["flu", None]}
        pq.write_table(pa.table(data), tmp_path / f"{number}.parquet")
    table = shoal.read(tmp_path, engine=engine, columns=["dx", "age"])
    assert table.to_frame("pyarrow").to_pydict() == {"age": [30, 70, 31, 70, 32, 70], "dx": ["flu", None] * 3}
    with pytest.raises(ColumnError, match="no column 'who'"):
        shoal.read(tmp_path, engine=engine, columns=["who"])


@pytest.mark.parametrize("engine", ["memory", "disk", "duckdb"])
def test_a_table_of_a_duckdb_file(tmp_path, engine):
    with duckdb.connect(str(tmp_path / "hospital.duckdb")) as made:
        made.execute("CREATE TABLE patients AS SELECT * FROM (VALUES (31, 'f'), (NULL, 'm')) AS t(age, sex)")
    path = tmp_path / "hospital.duckdb"
    assert shoal.read(path, engine=engine).to_frame("pyarrow").to_pydict() == {"age": [31, None], "sex": ["f", "m"]}
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE VIEW women AS SELECT age FROM patients WHERE sex = 'f'")
    with pytest.raises(ReadError, match="several tables") as caught:
        shoal.read(path, engine=engine)
    assert "'patients', 'women'" in caught.value.hint
    assert shoal.read(path, engine=engine, table="women").to_frame("pyarrow").to_pydict() == {"age": [31]}
    with pytest.raises(ReadError, match="no table 'men'"):
        shoal.read(path, engine=engine, table="men")


def test_codes_on_disk_are_gone_with_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    table = shoal.read({"age": [31, 34]}, engine="disk")
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    del table
    assert not list(tmp_path.iterdir())
