"""What a table will take, told from a sample."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.search.workload import combinations
from shoal.table.reading import read_sample
from tests.command_line import run


def census(rows, spread=1.5):
    rng = np.random.default_rng(3)
    columns = {}
    for name, size in {"age": 70, "place": 40, "job": 14, "sex": 2}.items():
        chances = 1 / np.arange(1, size + 1) ** spread
        columns[name] = rng.choice(size, rows, p=chances / chances.sum())
    return pa.table(columns)


@pytest.mark.parametrize("spread", [0.5, 1.5, 2.5])
def test_the_number_of_combinations_is_told_from_a_sample(spread):
    whole = census(400_000, spread)
    names = whole.column_names
    true = len(shoal.read(whole).distinct(names))
    told = combinations(shoal.read(whole.slice(0, 20_000)), names, 400_000)
    assert 0.75 * true < told < 1.33 * true


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_is_not_read_as_a_whole(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr("shoal.table.formats.csv._SMALL", 1)
    path = tmp_path / f"census.{suffix}"
    shoal.write(shoal.read(census(50_000)), path)
    sample, records = read_sample(path, most=5_000)
    assert sample.records <= 5_000
    assert records == pytest.approx(50_000, rel=0.02)


def test_rows_of_all_files_count(tmp_path):
    for number in range(3):
        pq.write_table(census(1_000), tmp_path / f"{number}.parquet", row_group_size=100)
    found = shoal.plan(tmp_path, quasi=["age", "sex"])
    assert (found.records, found.engine, found.fits) == (3_000, "memory", True)


def test_what_does_not_fit(tmp_path):
    pq.write_table(census(20_000), tmp_path / "t.parquet")
    done = run("plan", "t.parquet", "--json", cwd=tmp_path, SHOAL_MEMORY="100000")
    found = json.loads(done.stdout)["result"]
    assert (done.returncode, found["fits"], found["engine"]) == (1, False, "disk")


def test_the_command(tmp_path):
    pq.write_table(census(5_000), tmp_path / "t.parquet")
    policy = """
        version = 1
        columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [5, 10] } }
        columns.sex = { role = "quasi", hierarchy = { kind = "suppression" } }
        columns.place = { role = "insensitive" }
        columns.job = { role = "insensitive" }
    """
    (tmp_path / "policy.toml").write_text(policy)
    done = run("plan", "t.parquet", "--policy", "policy.toml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "5,000 records" in done.stdout
    assert "schemes: 8" in done.stdout
    assert "verify" in done.stdout
