"""The learning experiments of Olatunji et al. 2021 (sections 5.3 and 5.4), with the baselines and intervals they lack.

    python examples/olatunji.py OUT [--mimic FOLDER] [--patients 10000] [--k 5,100,1000] [--l 5,20] [--model linear]

Without a folder of MIMIC-III tables the demo hospital is taken: first stays, one for each patient, with demographics
and 19 measurements. OUT gets table-4.md, figure-3.svg to figure-6.svg and results.json:

- Table 4: demographics that a release does not have, read from the measurements by somebody who knows 20 % of people.
- Figure 3: readmission predicted from demographics alone, as they are and made coarser.
- Figures 4 and 5: length of stay, if only the two least or the most important of the measurements are anonymised.
- Figure 6: length of stay, if all are: as means of classes, as means column by column (whoever knows one measurement
  of somebody finds k persons: LKC with L = 1), and with the records left out that do not fit in.

Models are tested on patients that they have not seen: on what the release shows of them, as in the paper, and, in
results.json, on what is true of them. It takes about three minutes; learning and
pictures need: pip install "shoal[analysis,report]".
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from shoal import charts
from shoal.analyses.learner import LEARNERS
from shoal.analyses.learning import Learned
from shoal.attacks.reconstruction import Reconstruction
from shoal.demo import hospital

DEMOGRAPHICS = "age sex ethnicity marital_status insurance admission_type religion language".split()
OUTCOMES = {"readmission": "readmission", "stay": "length of stay"}
WHO, DIAGNOSIS = "patient", "diagnosis"
FEWEST = 100  # patients that something can be learned from
_COPIED = ("sex", "ethnicity", "marital_status", "insurance")
_NOT_MEASURED = ("patient_id", "ward", "admission_type", "icd10", "los_days", "los_bin", "readmit_30d", "died")

Requirements = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Data:
    """Stays, one for each patient; which columns say who somebody is, and which were measured."""

    table: shoal.Table
    demographics: tuple[str, ...]
    measures: tuple[str, ...]

    @classmethod
    def of(cls, frame: pa.Table) -> "Data":
        """Take a table whose columns have the names of this file; all others were measured."""
        told = {*DEMOGRAPHICS, *OUTCOMES, WHO, DIAGNOSIS}
        demographics = tuple(name for name in DEMOGRAPHICS if name in frame.column_names)
        return cls(shoal.read(frame), demographics, tuple(name for name in frame.column_names if name not in told))


def demo(patients: int, seed: int) -> pa.Table:
    """Return the first stay of every patient of the demo hospital."""
    made = hospital(patients=patients, seed=seed)
    every, people = made.admissions.to_frame("pyarrow"), made.patients.to_frame("pyarrow")
    _, first = np.unique(every["patient_id"].to_numpy(zero_copy_only=False), return_index=True)
    whose = {name: place for place, name in enumerate(people["patient_id"].to_pylist())}
    stay = every.take(np.sort(first))
    person = people.take([whose[name] for name in stay["patient_id"].to_pylist()])
    days = stay["admission_date"].cast(pa.date32()).cast(pa.int32()).to_numpy()
    age = (days - person["birth_date"].cast(pa.date32()).cast(pa.int32()).to_numpy()) // 365.25
    measured = [name for name in stay.column_names if name not in _NOT_MEASURED and "date" not in name]
    return pa.table(
        {
            WHO: stay["patient_id"],
            "age": age.astype(np.int64),
            **{name: person[name] for name in _COPIED},
            "admission_type": stay["admission_type"],
            **{name: stay[name] for name in measured},
            DIAGNOSIS: stay["icd10"],
            "readmission": stay["readmit_30d"],
            "stay": stay["los_bin"],
        }
    )


def of_mimic(folder: Path) -> pa.Table:
    from mimic import stays  # beside this file; it needs DuckDB

    return stays(folder)


# ---- Releases -------------------------------------------------------------------------------------------------------


def released(data: Data, columns: Iterable[str], require: Requirements, show: str, **search: Any) -> shoal.Release:
    """Anonymise some columns; all others stay as they are."""
    roles: dict[str, Any] = dict.fromkeys((name for name in data.table.names if name != WHO), "insensitive")
    roles |= {DIAGNOSIS: "sensitive"} | {name: {"role": "quasi", "show": show} for name in columns}
    cuts = search.pop("cuts_at", {})
    for name, points in cuts.items():
        roles[name]["hierarchy"] = {"kind": "interval", "cuts": [points]}
    policy = {"version": 1, "data": {"subject": WHO}, "columns": roles, "require": require, "search": search}
    return shoal.anonymize(data.table, shoal.Policy.model_validate(policy))


def coarser(data: Data, columns: Iterable[str], require: Requirements) -> shoal.Release:
    """Take the best scheme of all."""
    return released(data, columns, require, "label")


def means(data: Data, columns: Iterable[str], require: Requirements) -> shoal.Release:
    """Cut people into classes at medians, and show the mean of each class."""
    return released(data, columns, require, "mean", recoding="mondrian", cuts="anywhere")


def left_out(data: Data, columns: Iterable[str], require: Requirements) -> shoal.Release:
    """Keep of every column in which half each record is, or nothing; leave records out that do not fit in."""
    chosen = tuple(columns)
    halves = {name: [float(np.nanmedian(numbers(data.table, name)))] for name in chosen}
    bounds = dict.fromkeys(chosen, (1, 2))
    return released(data, chosen, require, "label", suppression=1.0, levels=bounds, cuts_at=halves)


def column_by_column(data: Data, columns: Iterable[str], require: Requirements) -> pa.Table:
    """Show means of each column by itself: classes of one column are not those of another."""
    frame = data.table.to_frame("pyarrow")
    for name in columns:
        cells = in_order(means(data, [name], require), data)[name]
        frame = frame.set_column(frame.column_names.index(name), name, cells)
    return frame


def in_order(release: shoal.Release, data: Data) -> pa.Table:
    """Return a release in the order of the original; who is left out shows nothing."""
    became = release.became(data.table.records)
    return release.to_frame("pyarrow").take(pa.array(became, mask=became < 0))


def numbers(table: shoal.Table, name: str) -> np.ndarray:
    column: pa.ChunkedArray = table.to_frame("pyarrow")[name]
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, slots=True)
class Pair:
    """What was learned from a release: tested on the release, as in the paper, and on original records."""

    release: Learned
    original: Learned

    def __str__(self) -> str:
        before, after, guess = self.release.achieved
        raw = self.original.achieved[1]
        what = "AUC" if self.release.auc else self.release.measure
        return (
            f"{what} {after.value:.3f} [{after.low:.3f}, {after.high:.3f}]"
            f", tested on the original {raw.value:.3f}; trained on the original {before.value:.3f} "
            f"[{before.low:.3f}, {before.high:.3f}]; guessing {guess:.3f}; {self.release.trained_on:,} records left"
        )


# ---- Experiments ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Experiments:
    """What is tried on some data: requirements by name, and what learns."""

    data: Data
    required: Mapping[str, Requirements]
    model: Any
    seed: int

    def table_4(self) -> list[dict[str, Any]]:
        """Read demographics from the measurements."""
        every = self.data.table.to_frame("pyarrow").select(self.data.measures)
        tables = {"as they are": every}
        for name, require in self.of_k().items():
            try:
                tables[f"{name}, means"] = in_order(means(self.data, self.data.measures, require), self.data)
            except shoal.ShoalError as error:
                print(f"  {name}: {error}")
        return [
            {"measurements": name, "target": one.column, "baseline": one.baseline, "skill": one.lift}
            | asdict(one.success)
            | {"by": list(one.details["by"])}
            for name, table in tables.items()
            for one in shoal.attack(
                self.data.table,
                table.select(self.data.measures),
                quasi=self.data.demographics,
                in_order=True,
                attacks=[
                    Reconstruction(
                        models=[self.model, "boosting"] if self.model != "boosting" else ["boosting", "linear"]
                    )
                ],
                seed=self.seed,
            ).results
        ]

    def of_k(self) -> dict[str, Requirements]:
        return {name: require for name, require in self.required.items() if name.startswith("k")}

    def figure_3(self) -> dict[str, Pair]:
        """Predict readmission from demographics that are made coarser."""
        ways = {name: (coarser, require) for name, require in self.required.items()}
        return self.learned("readmission", self.data.demographics, self.data.demographics, ways)

    def figure_of(self, columns: Iterable[str]) -> dict[str, Pair]:
        """Predict the length of stay where only some of the measurements are anonymised."""
        ways = {name: (means, require) for name, require in self.required.items()}
        return self.learned("stay", self.data.measures, tuple(columns), ways)

    def figure_6(self) -> dict[str, Pair]:
        """Predict the length of stay where all of them are, in three ways."""
        kinds = {"means of classes": means, "means, column by column": column_by_column, "records left out": left_out}
        ways = {
            f"{name}, {kind}": (make, require) for kind, make in kinds.items() for name, require in self.of_k().items()
        }
        return self.learned("stay", self.data.measures, self.data.measures, ways)

    def learned(
        self,
        target: str,
        features: Iterable[str],
        columns: tuple[str, ...],
        ways: Mapping[str, tuple[Callable[..., Any], Requirements]],
    ) -> dict[str, Pair]:
        found = {}
        for name, (make, require) in ways.items():
            try:
                release = make(self.data, columns, require)
                compared = shoal.compare(self.data.table, release, quasi=columns, subject=WHO, qualities=["loss"])
                learn = partial(compared.learning, target, tuple(features), model=self.model, seed=self.seed)
                found[name] = Pair(learn(tested="release"), learn(tested="original"))
            except shoal.ShoalError as error:
                print(f"  {name}: {error}")
                continue
            print(f"  {name:<36} {found[name]}", flush=True)
        return found

    def ranked(self) -> list[str]:
        """Return the measurements in the order of their importance for the length of stay."""
        itself = shoal.compare(
            self.data.table, self.data.table, quasi=self.data.measures, subject=WHO, qualities=["loss"]
        )
        found = itself.importances("stay", self.data.measures, model=self.model, seed=self.seed)
        for name, lost in found.items():
            print(f"  {name:<20} {lost.value:+.4f} [{lost.low:+.4f}, {lost.high:+.4f}]")
        return list(found)


def numbers_of(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part]


def diverse(number: int) -> Requirements:
    return [{"model": "l-diversity", "l": number, "column": DIAGNOSIS}]


def written(rows: list[dict[str, Any]]) -> str:
    """Return Table 4 in Markdown."""
    titles = ("measurements", "target", "right", "95 % interval", "majority", "skill", "mostly by")
    head = f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|\n"
    return head + "".join(
        f"| {row['measurements']} | {row['target']} | {row['value']:.3f} | {row['low']:.3f} to {row['high']:.3f} "
        f"| {row['baseline']:.3f} | {row['skill']:+.3f} | {', '.join(row['by'][:2])} |\n"
        for row in rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder for what comes out")
    parser.add_argument("--mimic", type=Path, help="a folder with the tables of MIMIC-III")
    parser.add_argument("--patients", type=int, default=10_000, help="of the demo hospital")
    parser.add_argument("--k", default=[5, 100, 1000], type=numbers_of, help="5,100,1000 unless said")
    parser.add_argument("--l", default=[5, 20], type=numbers_of, help="diagnoses in every class; 5,20 unless said")
    parser.add_argument("--model", choices=LEARNERS, default="linear")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--force", action="store_true", help="replace what is there")
    given = parser.parse_args()
    if not given.force and given.out.exists() and any(given.out.iterdir()):
        parser.error(f"'{given.out}' is not empty: name another folder, or add --force.")
    if given.mimic is not None and not given.mimic.is_dir():
        parser.error(f"There is no folder '{given.mimic}'.")
    if given.patients < FEWEST:
        parser.error(f"At least {FEWEST} patients are needed to learn from.")
    data = Data.of(demo(given.patients, given.seed) if given.mimic is None else of_mimic(given.mimic))
    required = {f"k = {k}": [{"model": "k-anonymity", "k": k}] for k in given.k}
    required |= {f"l = {number}": diverse(number) for number in given.l}
    tried = Experiments(data, required, given.model, given.seed)
    print(f"{data.table.records:,} patients, {len(data.demographics)} demographics, {len(data.measures)} measurements")
    print("Table 4: demographics from measurements")
    rows = tried.table_4()
    print(written(rows))
    print("Importance for the length of stay")
    ranked = tried.ranked()
    figures = {}
    for name, told, make in (
        ("figure-3", "Readmission from demographics", tried.figure_3),
        ("figure-4", f"Length of stay, {ranked[-2]} and {ranked[-1]} anonymised", lambda: tried.figure_of(ranked[-2:])),
        ("figure-5", f"Length of stay, {ranked[0]} anonymised", lambda: tried.figure_of(ranked[:1])),
        ("figure-6", "Length of stay, all measurements anonymised", tried.figure_6),
    ):
        print(f"{name.replace('-', ' ').capitalize()}: {told}")
        figures[name] = told, make()
    save(given.out, rows, figures, force=given.force)


def save(out: Path, rows: list[dict[str, Any]], figures: Mapping[str, Any], *, force: bool) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, (told, found) in figures.items():
        if found:
            charts.learning({way: one.release for way, one in found.items()}, title=told).save(
                out / f"{name}.svg", force=force
            )
    results: dict[str, Any] = {"table-4": rows}
    results |= {name: {way: asdict(one) for way, one in found.items()} for name, (_, found) in figures.items()}
    (out / "table-4.md").write_text(written(rows), encoding="utf-8")
    (out / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    sys.stdout.write(f"Written to {out}\n")


if __name__ == "__main__":
    main()
