"""Forty policies with all their documents, to compare two versions of shoal whose answers should be the same.

    python benchmarks/corpus.py make FOLDER [--only NAME ...]
    python benchmarks/corpus.py compare FOLDER FOLDER

``make`` writes made-up tables and a policy for each case, and keeps what ``shoal`` writes for it: release, manifests,
JSON documents and reports. Run it in the environment of either version; Spark's cases need Java. ``compare`` prints the
files that differ, once ``normalised`` has removed timings and the keys that are listed as additions; released tables
must be equal byte for byte.
"""

import argparse
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

PEOPLE = 400
KEY = {"CORPUS_KEY": "a key for nothing but this corpus"}
ATTACKS = "homogeneity,background-knowledge,linkage,skewness,similarity,membership,singling-out,tracker"
TIMINGS = {"seconds"}
ADDITIONS = {"guarantee"}  # keys that later versions have and earlier ones have not
ADDED_TEXT = re.compile(  # the same in texts: how it is known that a requirement is met
    r"""\ \(verified\)|,\s+(?:"|&\#34;)guarantee(?:"|&\#34;):\ (?:"|&\#34;)verified(?:"|&\#34;)""", re.VERBOSE
)
REWORDED = {
    "the policy gives it no role": "no role",
    "it has no role": "no role",
    "it says whose record it is": "subject",
    "it identifies persons directly": "direct identifier",
    "it says who lives together": "household",
    "medians (Mondrian). What is to be lost least is measured by loss.": "medians (Mondrian).",
}
NOTED = re.compile(  # notes about columns that are not released, once for each or for all; and on several tables
    r"(?:<li>)?(?:\w+: |Note: )?"
    r"(?:Column (?:'|&\#39;).*?(?:'|&\#39;) does not go out|Columns (?:that do not go out|not released)"
    r"|[\d,]+ records? are left out with what|Suppressed with the record"
    r"|Who knows all records of a person in all|An adversary who knows all records of a person in all).*\n?"
)
SEARCHED = re.compile(  # how the scheme was found
    r"(?:<div>)?(?:<dt>|- \*\*|\| )?(?:Schemes|Best|Search)\b.*\b(?:schemes?|to be had)\b.*\n?"
)
EXPLAINED = re.compile(r"### Measures of quality\n\n(?:- .*\n)+\n?")  # external reports define their measure, too

COLUMNS = {
    "age": '{ role = "quasi", hierarchy = { kind = "interval", widths = [5, 10, 20, 40] } }',
    "sex": '"quasi"',
    "postcode": '{ role = "quasi", hierarchy = { kind = "prefix", keep = [3, 2, 1], length = 4 } }',
    "origin": '{ role = "quasi", hierarchy = { kind = "explicit", file = "origin.csv" } }',
    "dx": '{ role = "sensitive", hierarchy = { kind = "icd10" } }',
    "cost": '"insensitive"',
    "admitted": '"insensitive"',
}


@dataclass(frozen=True)
class Case:
    """A policy by its parts, the data it is for, and the format and the engine of the release.

    ``columns``: columns whose entry differs from the usual one; an empty entry leaves the column out.
    """

    name: str
    search: str = ""
    require: str = '{ model = "k-anonymity", k = 5 }'
    more: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    data: str = "patients.csv"
    suffix: str = ".csv"
    engine: str = "memory"

    def policy(self) -> str:
        """Return the policy as TOML."""
        columns = {**COLUMNS, **dict(self.columns)}
        return "\n".join(
            [
                "version = 1",
                f"require = [{self.require}]",
                self.more,
                "[columns]",
                *(f"{name} = {entry}" for name, entry in columns.items() if entry),
                "[search]",
                *(["suppression = 0.1"] if "suppression =" not in self.search else []),
                self.search,
            ]
        )


SUBJECT = '[data]\nsubject = "who"'
REGISTER = '[population]\nfile = "register.csv"'
DRAW = '[draw]\nkey_variable = "CORPUS_KEY"'
VISITS = (("admitted", ""), ("cost", '"insensitive"'))
NUMBERS = (("dx", ""), ("cost", '"sensitive"'))
K5 = '{ model = "k-anonymity", k = 5 }, '

CASES = (
    Case("global"),
    Case("global-nobody-suppressed", "suppression = 0"),
    Case("global-nue", 'quality = "nue"'),
    Case("global-precision-weights", 'quality = "precision"\nweights = { age = 3, sex = 0.5 }'),
    Case("global-discernibility-levels", 'quality = "discernibility"\nlevels = { age = [1, 3], origin = [0, 1] }'),
    Case("global-classification", 'quality = "classification-metric"\ntarget = "dx"'),
    Case("global-balance", "balance = 0.9"),
    Case("refined", "refine = true"),
    Case("cells", 'outliers = "cells"'),
    Case("relocated", 'outliers = "relocate"'),
    Case("counterfeits", 'outliers = "counterfeits"', more=DRAW),
    Case("sampled", "sample = 0.6", more=DRAW),
    Case("local", 'recoding = "local"'),
    Case("local-refined-relocated", 'recoding = "local"\nrefine = true\noutliers = "relocate"'),
    Case("mondrian", 'recoding = "mondrian"'),
    Case("mondrian-relaxed", 'recoding = "mondrian"\nstrict = false'),
    Case("mondrian-anywhere", 'recoding = "mondrian"\ncuts = "anywhere"'),
    Case("suppression", 'recoding = "suppression"'),
    Case("subsets", 'recoding = "subsets"', '{ model = "subset-k-anonymity", m = 2, k = 5 }'),
    Case("l-diversity", require=K5 + '{ model = "l-diversity", column = "dx", l = 2 }'),
    Case("entropy-and-recursive", 'recoding = "local"', K5 + '{ model = "entropy-l-diversity", l = 2 }'),
    Case("t-closeness-hierarchical", require=K5 + '{ model = "t-closeness", t = 0.5, distance = "hierarchical" }'),
    Case("beta-likeness", require=K5 + '{ model = "enhanced-beta-likeness", beta = 2 }'),
    Case("delta-disclosure", require=K5 + '{ model = "delta-disclosure", delta = 3, absent = "ignore" }'),
    Case("alpha-k", 'recoding = "mondrian"', '{ model = "alpha-k-anonymity", alpha = 0.8, k = 5 }'),
    Case("ke-anonymity", require='{ model = "ke-anonymity", k = 3, e = 10 }', columns=NUMBERS),
    Case("k-map", require='{ model = "k-map", k = 10 }', more=REGISTER),
    Case("delta-presence", require='{ model = "delta-presence", delta_min = 0, delta_max = 0.5 }', more=REGISTER),
    Case("lkc-privacy", require='{ model = "lkc-privacy", l = 2, k = 5, c = 0.9 }'),
    Case("presets", require='{ preset = "controlled-access" }, { preset = "wp216" }', search="suppression = 0.3"),
    Case("persons", more=SUBJECT, data="visits.csv", columns=VISITS),
    Case(
        "never-pseudonyms-dates",
        more='[data]\nsubject = "who"\nmissing = "never"\n'
        '[pseudonyms]\ncolumns = ["who"]\nkey_variable = "CORPUS_KEY"\n'
        '[dates]\ncolumns = ["admitted"]\ndays = 100\nkey_variable = "CORPUS_KEY"',
    ),
    Case(
        "representatives-published",
        more="[publish]\nsuppressed = true\nrisk = true\nattacks = true",
        columns=(("age", '{ role = "quasi", show = "mean", hierarchy = { kind = "interval", widths = [10, 20] } }'),),
        suffix=".xlsx",
    ),
    Case(
        "linked-frequency-order",
        columns=(
            ("origin", '{ role = "quasi", hierarchy = { kind = "frequency", keep = [2, 1] } }'),
            (
                "grade",
                '{ role = "quasi", hierarchy = { kind = "order", order = ["low", "mid", "high"], sizes = [2] } }',
            ),
            ("born", '{ role = "quasi", hierarchy = { kind = "date", units = ["year", "decade"] }, linked = "age" }'),
        ),
        suffix=".parquet",
    ),
    Case("disk", engine="disk", suffix=".parquet"),
    Case("disk-local", 'recoding = "local"', engine="disk"),
    Case("duckdb-sampled", "sample = 0.6", more=f"{SUBJECT}\n{DRAW}", data="visits.parquet", engine="duckdb"),
    Case("duckdb-mondrian", 'recoding = "mondrian"', data="patients.parquet", engine="duckdb", suffix=".jsonl"),
    Case("spark", more=SUBJECT, data="visits.parquet", engine="spark"),
)

TOGETHER = """
version = 1
data.subject = "who"
pseudonyms = { key_variable = "CORPUS_KEY" }
require = [{ model = "k-anonymity", k = 4 }]
search = { suppression = 0.2 }
[tables.patients.columns]
age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 20, 40] } }
sex = "quasi"
dx = { role = "sensitive", hierarchy = { kind = "icd10" } }
[tables.visits]
refers.who = "patients.who"
columns.ward = "quasi"
columns.cost = "insensitive"
"""


def write_data(folder: Path) -> None:
    """Write the tables, the register and a hierarchy; nothing of it depends on shoal."""
    rng = np.random.default_rng(28)
    age = rng.integers(18, 90, PEOPLE)
    people = {
        "who": [f"P{number:04}" for number in rng.permutation(PEOPLE)],
        "age": age.tolist(),
        "born": [date(2020 - years, 6, 15) for years in age.tolist()],
        "sex": rng.choice(["f", "m"], PEOPLE).tolist(),
        "postcode": rng.choice(["1010", "1011", "1020", "2010", "2020", "3010"], PEOPLE).tolist(),
        "origin": rng.choice(["AT", "DE", "IT", "TR", "SY"], PEOPLE, p=[0.5, 0.2, 0.15, 0.1, 0.05]).tolist(),
        "grade": rng.choice(["low", "mid", "high"], PEOPLE).tolist(),
        "dx": rng.choice(["E11.9", "I10", "J45.0", "F32.1", "G35"], PEOPLE, p=[0.3, 0.3, 0.2, 0.15, 0.05]).tolist(),
        "cost": (rng.integers(0, 4000, PEOPLE) / 4).tolist(),
        "admitted": [date(2024, 1, 1) + timedelta(days) for days in rng.integers(0, 360, PEOPLE).tolist()],
    }
    _write(folder / "patients", people)
    of = np.sort(rng.integers(0, PEOPLE // 2, PEOPLE))
    visits = {name: [values[number] for number in of.tolist()] for name, values in people.items()}
    visits["dx"] = rng.choice(["E11.9", "I10", "J45.0", None], PEOPLE, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    visits["cost"] = (rng.integers(0, 4000, PEOPLE) / 4).tolist()
    visits["ward"] = rng.choice(["A", "B"], PEOPLE).tolist()
    _write(folder / "visits", visits)
    extra = rng.integers(0, PEOPLE, 3 * PEOPLE).tolist()
    register = {
        name: [*people[name], *(people[name][number] for number in extra)]
        for name in ("age", "sex", "postcode", "origin")
    }
    _write(folder / "register", register)
    groups = {"AT": "DACH", "DE": "DACH", "IT": "south", "TR": "south", "SY": "south"}
    (folder / "origin.csv").write_text("".join(f"{name};{group};*\n" for name, group in groups.items()))
    (folder / "together").mkdir()
    for name in ("patients", "visits"):
        shutil.copy(folder / f"{name}.csv", folder / "together")


def _write(path: Path, columns: dict[str, list[Any]]) -> None:
    """Write a table as CSV and as Parquet."""
    table = pa.table(columns)
    csv.write_csv(table, path.with_suffix(".csv"), csv.WriteOptions(quoting_style="none"))
    parquet.write_table(table, path.with_suffix(".parquet"))


def commands(case: Case) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of a case: the name of what each prints, and its words."""
    policy, release = ["-p", f"{case.name}.toml"], f"{case.name}/release{case.suffix}"
    where = [] if case.engine == "memory" else ["--engine", case.engine]
    yield "anonymize", ["anonymize", case.data, *policy, *where, "-o", release, "--json"]
    yield "assess", ["assess", case.data, *policy, *where, "--json"]
    yield "compare", ["compare", case.data, release, *policy, "--json"]
    yield "attack", ["attack", case.data, release, *policy, "--only", ATTACKS, "--targets", "100", "--json"]
    for kind, options in (("json", []), ("md", ["--external"])):
        yield f"report-{kind}", ["report", case.data, release, *policy, *options, "-o", f"{case.name}/report.{kind}"]


OTHERS = {
    "together": ["anonymize", "together", "-p", "together.toml", "-o", "together-release", "--json"],
    "identify": ["identify", "patients.csv", "--json"],
    "dimension": ["dimension", "patients.csv", "-p", "global.toml", "--json"],
    "peers": ["peers", "patients.csv", "-p", "global.toml", "--json"],
    "frontier": ["anonymize", "patients.csv", "-p", "global.toml", "--frontier", "--json"],
    "report-html": ["report", "patients.csv", "-p", "global.toml", "--no-attacks", "-o", "whole.html"],
    "identify-text": ["identify", "visits.csv"],
    "assess-text": ["assess", "visits.csv", "-p", "persons.toml"],
    "compare-text": ["compare", "patients.csv", "global/release.csv", "-p", "global.toml"],
    "attack-text": ["attack", "patients.csv", "global/release.csv", "-p", "global.toml", "--only", ATTACKS],
    "peers-text": ["peers", "patients.csv", "-p", "global.toml"],
    "anonymize-text": ["anonymize", "patients.csv", "-p", "global.toml", "--dry-run"],
}


def run(words: Sequence[str]) -> dict[str, Any]:
    """Run a command in this process and return what it printed."""
    from shoal.cli import main

    printed, errors, code = io.StringIO(), io.StringIO(), None
    with patch.object(sys, "argv", ["shoal", *words]), redirect_stdout(printed), redirect_stderr(errors):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return {"code": code, "printed": printed.getvalue(), "errors": errors.getvalue()}


def make(folder: Path, only: Sequence[str]) -> None:
    """Run all cases in a folder."""
    folder.mkdir(parents=True)
    os.chdir(folder)
    os.environ.update({"NO_COLOR": "1", "COLUMNS": "100", **KEY})
    write_data(Path())
    Path("together.toml").write_text(TOGETHER)
    for case in CASES:
        Path(f"{case.name}.toml").write_text(case.policy())
    for case in CASES:
        if only and case.name not in only:
            continue
        Path(case.name).mkdir()
        for name, words in commands(case):
            _keep(Path(case.name) / f"{name}.printed.json", run(words))
    Path("others").mkdir()
    for name, words in OTHERS.items():
        if not only or name in only:
            _keep(Path("others") / f"{name}.printed.json", run(words))


def _keep(path: Path, result: dict[str, Any]) -> None:
    if result["code"] == 2:
        first = (result["errors"].strip().splitlines() or [""])[0]
        print(f"{path}: exit code {result['code']}: {first[:150]}", file=sys.stderr, flush=True)
    with suppress(ValueError):
        result["printed"] = json.loads(result["printed"])
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def normalised(path: Path) -> Any:
    """Return a document without timings, without the names of temporary files, and without additions."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\b\d+(\.\d+)? (s|ms|min)\b", "0 s", text)
    text = re.sub(r"  +", "  ", ADDED_TEXT.sub("", text))  # columns of tables may be narrower
    for before, after in REWORDED.items():
        text = text.replace(before, after)
    text = EXPLAINED.sub("", text)
    if path.suffix == ".json":
        return _without(json.loads(text))
    text = NOTED.sub("", SEARCHED.sub("", text))
    return re.sub(r"\b[0-9a-f]{32,}\b", "", text) if path.suffix == ".html" else text


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without(held) for key, held in value.items() if key not in TIMINGS | ADDITIONS}
    if isinstance(value, list):
        return [_without(held) for held in value if not _is_reworded(held)]
    return NOTED.sub("", SEARCHED.sub("", value)) if isinstance(value, str) else value


def _is_reworded(value: Any) -> bool:
    """Return whether a note or a fact is listed as worded otherwise."""
    pair = isinstance(value, list) and len(value) == 2 and value[0] in {"Schemes", "Best", "Search"}
    return pair or (isinstance(value, str) and NOTED.fullmatch(value) is not None)


def is_table(path: Path) -> bool:
    """Return whether a file is a released table."""
    return path.stem == "release" or path.parent.name == "together-release"


def compare(one: Path, other: Path) -> int:
    """Print the files that differ, and return how many do."""
    names = [
        sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) for folder in (one, other)
    ]
    differ = [f"{name}: only in one of them" for name in sorted(set(names[0]) ^ set(names[1]))]
    tables = documents = 0
    for name in sorted(set(names[0]) & set(names[1])):
        first, second = one / name, other / name
        if is_table(first) and not name.endswith(".json"):
            tables += 1
            same = first.read_bytes() == second.read_bytes()
        else:
            documents += 1
            same = first.read_bytes() == second.read_bytes() or normalised(first) == normalised(second)
        if not same:
            differ.append(f"{name}: differs")
    print("\n".join([*differ, f"{tables} released tables, {documents} other files, {len(differ)} differences"]))
    return len(differ)


def main() -> None:
    """Make a corpus, or compare two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands_ = parser.add_subparsers(dest="command", required=True)
    making = commands_.add_parser("make")
    making.add_argument("folder", type=Path)
    making.add_argument("--only", nargs="*", default=[])
    comparing = commands_.add_parser("compare")
    comparing.add_argument("folders", type=Path, nargs=2)
    options = parser.parse_args()
    if options.command == "make":
        make(options.folder, options.only)
    else:
        sys.exit(bool(compare(*options.folders)))


if __name__ == "__main__":
    main()
