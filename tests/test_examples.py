"""The examples run, and say what they should."""

import csv
import json
import random
import re
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_figures_of_the_paper(shared, tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / "kroes.py", shared / "data/kroes", tmp_path],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    names = ("1", "2a", "2b", "2c", "3a", "3b", "4a", "4b")
    assert {path.name for path in tmp_path.iterdir()} == {
        f"figure-{n}{kind}" for n in names for kind in (".svg", ".png")
    }
    published = (
        "0.10201724 0.19252669 0.09874690 0.13474677 0.15474972 0.09647474 0.12545721 0.15101291"  # in their app
    )
    assert all(mean in done.stdout for mean in published.split())
    assert "761 of 789" in done.stdout
    assert "463 of 789" in done.stdout


ADULT = "sex age race marital-status education native-country workclass occupation salary-class".split()


def test_prasser_figure_4(shared, tmp_path):
    """The Adult half of the figure, by one command."""
    folder = shared / "data/arx-adult"
    ladder = '{{ kind = "explicit", file = "{}/adult_hierarchy_{}.csv", check_labels = false }}'
    lines = [f'columns.{name} = {{ role = "quasi", hierarchy = {ladder.format(folder, name)} }}' for name in ADULT]
    policy = tmp_path / "policy.toml"
    policy.write_text("\n".join(["version = 1", *lines]))
    oracle = json.loads((shared / "oracles/arx_nue_curve.json").read_text())
    schemes = {
        name: ",".join(f"{column}:{level}" for column, level in zip(ADULT, levels, strict=True))
        for name, levels in oracle["levels"].items()
    }
    options = [part for name, levels in schemes.items() for part in ("--scheme", f"{name}={levels}")]
    done = subprocess.run(
        [sys.executable, EXAMPLES / "prasser.py", folder / "adult.csv", policy, tmp_path / "4.svg", *options],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "4.svg").stat().st_size > 10_000
    printed = {}
    for line in done.stdout.splitlines():
        name, share, _, generic, _, conventional = line.split()
        printed[name, int(share.removesuffix("%"))] = float(generic), float(conventional)
    for name, points in oracle["curves"].items():
        for point in points:
            if (name, point["suppressed_percent"]) in printed:
                wanted = point["generic_normalized"], point["conventional_normalized"]
                assert printed[name, point["suppressed_percent"]] == pytest.approx(wanted, abs=1e-6)
    assert len(printed) == 84


def test_proposals_for_the_tables_of_papers(shared):
    """Of every table, all columns that name persons are found and no other is taken for one; the rest is told."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / "proposals.py", shared / "data"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    tables = done.stdout.strip().split("\n\n")
    assert len(tables) == 9
    for told in tables:
        naming, same = told.splitlines()[1:3]
        found, present = re.search(r"(\d+) of (\d+) found, 0 taken", naming).groups()
        assert found == present
        agree, columns = map(int, re.search(r"(\d+) of (\d+)", same).groups())
        assert len(told.splitlines()) == 3 + columns - agree
    assert "sex: insensitive in the paper, quasi here" in tables[0]
    assert "same role: 9 of 9" in tables[2]


def olatunji(*options):
    done = subprocess.run(
        [sys.executable, EXAMPLES / "olatunji.py", *map(str, options)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.nightly  # the test below runs the same experiments on fewer patients
def test_the_experiments_of_the_review(tmp_path):
    """Sex is read from the measurements, ethnicity is not; means of single columns keep what can be predicted."""
    told = olatunji(tmp_path, "--patients", 1000, "--k", "100", "--l", "3")
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"figure-{number}.svg" for number in (3, 4, 5, 6)),
        "table-4.md",
        "results.json",
    }
    found = json.loads((tmp_path / "results.json").read_text())
    rows = {(row["measurements"], row["target"]): row for row in found["table-4"]}
    assert rows["as they are", "sex"]["low"] > rows["as they are", "sex"]["baseline"] + 0.2
    assert rows["as they are", "ethnicity"]["low"] <= rows["as they are", "ethnicity"]["baseline"]
    assert rows["k = 100, means", "sex"]["value"] < rows["as they are", "sex"]["low"]
    stay = found["figure-6"]
    assert {way.split(", ")[0] for way in stay} == {"k = 100"}
    alone, classes = (stay[f"k = 100, {way}"]["release"] for way in ("means, column by column", "means of classes"))
    assert alone["after"]["value"] > alone["baseline"]
    assert alone["after"]["value"] > classes["after"]["value"]
    assert stay["k = 100, records left out"]["release"]["trained_on"] < 1000 == classes["trained_on"]
    assert set(found["figure-4"]) == {"k = 100", "l = 3"} == set(found["figure-5"])
    assert told.count("AUC") == 2


@pytest.mark.exhaustive
def test_the_experiments_on_tables_like_those_of_mimic(tmp_path):
    """Made-up tables with the names and items of MIMIC-III: longer stays come with faster hearts."""
    folder, out = tmp_path / "mimic", tmp_path / "out"
    folder.mkdir()
    stays = like_mimic(folder, 300)
    told = olatunji(out, "--mimic", folder, "--k", "5", "--l", "2")
    assert f"{stays} patients, 8 demographics, 5 measurements" in told
    assert told.index("heart_rate") < told.index("sodium")  # the more important comes first
    found = json.loads((out / "results.json").read_text())
    assert found["figure-4"]["k = 5"]["release"]["before"]["low"] > found["figure-4"]["k = 5"]["release"]["baseline"]


def like_mimic(folder, people):
    """Write tables of people, every tenth of them a child, with a stay or two, and return how many are adults."""
    draw = random.Random(1)
    tables = {name: [] for name in ("PATIENTS", "ADMISSIONS", "DIAGNOSES_ICD", "CHARTEVENTS", "LABEVENTS", "sofa")}
    for person in range(people):
        born = datetime(2100, 1, 1) + timedelta(days=draw.randrange(9000))
        tables["PATIENTS"].append({"SUBJECT_ID": person, "GENDER": draw.choice("MF"), "DOB": born})
        begin = born + timedelta(days=3650 if person % 10 == 0 else draw.randrange(8000, 30000))
        for number in range(1 + person % 2):
            stay, days = 2 * person + number, draw.choice([1.5, 4.0, 9.0, 40.0])
            tables["ADMISSIONS"].append(
                {
                    "SUBJECT_ID": person,
                    "HADM_ID": stay,
                    "ADMITTIME": begin,
                    "DISCHTIME": begin + timedelta(days=days),
                    "ADMISSION_TYPE": draw.choice(["EMERGENCY", "ELECTIVE"]),
                    "INSURANCE": draw.choice(["Medicare", "Private"]),
                    "LANGUAGE": draw.choice(["ENGL", "SPAN"]),
                    "RELIGION": draw.choice(["CATHOLIC", "JEWISH"]),
                    "MARITAL_STATUS": draw.choice(["MARRIED", "SINGLE"]),
                    "ETHNICITY": draw.choice(["WHITE", "ASIAN"]),
                }
            )
            tables["DIAGNOSES_ICD"].append({"HADM_ID": stay, "SEQ_NUM": 1, "ICD9_CODE": draw.choice(["4280", "V3001"])})
            at = begin + timedelta(hours=3)
            for table, item, typical in (
                ("CHARTEVENTS", 211, 70 + days),
                ("CHARTEVENTS", 223761, 98.6),
                ("LABEVENTS", 50983, 140),
                ("LABEVENTS", 50912, 1),
            ):
                told = {"HADM_ID": stay, "ITEMID": item, "CHARTTIME": at, "VALUENUM": round(draw.gauss(typical, 2), 1)}
                tables[table].append(told)
            late = {"HADM_ID": stay, "ITEMID": 211, "CHARTTIME": at + timedelta(hours=24), "VALUENUM": 999}
            tables["CHARTEVENTS"].append(late)
            tables["sofa"].append({"hadm_id": stay, "sofa": draw.randrange(10)})
            begin += timedelta(days=days + draw.randrange(60))
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return people - people // 10
