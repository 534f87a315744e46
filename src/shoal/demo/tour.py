"""The tour: every stage of shoal with the data of the fictitious hospital."""

from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shoal import charts
from shoal.dataset.dataset import Dataset
from shoal.demo import hospital
from shoal.errors import WriteError
from shoal.fileset import replacing
from shoal.hierarchy.hierarchy import Hierarchy
from shoal.individuals.people import People
from shoal.kernels.grouping import group_rows
from shoal.kernels.translation import Codes
from shoal.policy.policy import Policy
from shoal.qualities.nue import NonUniformEntropy
from shoal.recoding.recoding import Recoding
from shoal.release.release import Release
from shoal.reporting.report import report
from shoal.risk.assessment import Assessment
from shoal.table.reading import read
from shoal.table.role import Role
from shoal.table.table import Table
from shoal.table.writing import write
from shoal.verbs.anonymize import anonymize
from shoal.verbs.assess import assess
from shoal.verbs.attack import attack
from shoal.verbs.identify import identify
from shoal.verbs.peers import peers
from shoal.words import share as share_of
from shoal.words import short

if TYPE_CHECKING:
    from rich.console import Console

FILES = {
    "register.csv": "population",
    "patients.csv": "patients",
    "admissions.csv": "admissions",
    "diagnoses.csv": "diagnoses",
    "laboratory.csv": "laboratory",
}
ATTACKS = ("linkage", "singling-out", "linkability", "inference", "homogeneity", "background-knowledge")
FACTS = (
    ("sex", "postcode"),
    ("sex", "birth_date"),
    ("sex", "postcode", "marital_status", "occupation"),
    ("sex", "birth_date", "postcode"),
)


def tour(folder: Path, console: "Console", *, patients: int, seed: int, force: bool) -> None:
    """Write the files of the demo to a folder, and run and explain all stages."""
    console.print("\n[bold]shoal: from a raw health dataset to a release its owner can defend[/bold]")
    _make_up(folder, console, patients=patients, seed=seed, force=force)
    policy = Policy.load(folder / "policy.toml")
    table, register = policy.read(folder / "patients.csv"), read(folder / "register.csv")
    _show_columns(table, console)
    _show_uniqueness(table, register, console)
    _show_ladders(policy.hierarchies(table), table, console)
    _show_assessment(assess(table, policy), console)
    _show_peers(peers(table, policy), folder, console, force=force)
    _show_cost(table, policy.hierarchies(table), console)
    release = anonymize(table, policy)
    _show_release(release, folder, console, force=force)
    _show_attack(release, table, register, console)
    _show_report(release, table, register, folder, console, force=force)
    _show_dataset(folder, console, seed=seed, force=force)
    _show_end(folder, console)


def _make_up(folder: Path, console: "Console", *, patients: int, seed: int, force: bool) -> None:
    _heading(console, 1, "Generated data of a hospital")
    town = hospital(patients=patients, seed=seed)
    if folder.exists() and not folder.is_dir():
        raise WriteError("not-a-folder", "'{path}' is a file, not a folder.", path=folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, attribute in FILES.items():
        table: Table = getattr(town, attribute)
        write(table, folder / name, force=force)
        console.print(f"  {folder / name}  [dim]{table.records:,} records × {len(table.columns)} columns[/dim]")
    with replacing(folder / "policy.toml", force=force) as beside:
        beside.write_bytes(files("shoal.demo").joinpath("policy.toml").read_bytes())
    console.print(f"  {folder / 'policy.toml'}  [dim]roles, hierarchies and requirements[/dim]")
    console.print("  [dim]All individuals are fictitious. The register stands for the knowledge of an adversary.[/dim]")


def _show_columns(table: Table, console: "Console") -> None:
    _heading(console, 2, "Roles of the columns")
    for role in (Role.DIRECT, Role.QUASI, Role.SENSITIVE, Role.SUBJECT):
        names = ", ".join(table.with_role(role))
        console.print(f"  [bold]{role:<10}[/bold] {names}\n             [dim]{role.meaning}[/dim]")
    identification = identify(table)
    same = sum(finding.role is table.roles.get(name) for name, finding in identification.columns.items())
    console.print(
        f"\n  shoal identify, without the policy, proposes {same} of {len(identification.columns)} roles identically."
    )
    shares = {} if identification.contribution is None else identification.contribution.shares
    most = sorted(shares, key=lambda name: -shares[name])[:3]
    named = ", ".join(f"{name.replace('_', ' ')} ({short(100 * shares[name])})" for name in most)
    console.print(f"  [dim]Largest contributions to uniqueness, in percentage points: {named}.[/dim]")
    for link in identification.links:
        console.print(f"  [dim]Dependent columns: {link}.[/dim]")


def _show_uniqueness(table: Table, register: Table, console: "Console") -> None:
    from rich.table import Table as Grid

    _heading(console, 3, "Re-identification without names")
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("  known attributes", no_wrap=True)
    grid.add_column("unique in\nthe hospital", justify="right")
    grid.add_column("unique in\nthe town", justify="right")
    for facts in FACTS:
        grid.add_row(
            "  " + ", ".join(facts).replace("_", " "),
            share_of(_alone(table, facts)),
            share_of(_alone(register, facts)),
        )
    console.print(grid)
    console.print("  [dim]Unique individuals can be looked up in the register: a name for every diagnosis.[/dim]")


def _alone(table: Table, columns: tuple[str, ...]) -> float:
    """Return the share of records that are unique in these columns."""
    counts = table.distinct(columns).counts
    return float(np.count_nonzero(counts == 1)) / table.records


def _show_ladders(hierarchies: dict[str, Hierarchy], table: Table, console: "Console") -> None:
    _heading(console, 4, "Generalisation hierarchies")
    for name in ("birth_date", "postcode", "occupation"):
        ladder = hierarchies[name]
        code = _example(ladder, table.codes(name))
        steps = " → ".join(str(ladder.labels(level)[code].as_py()) for level in range(ladder.height + 1))
        console.print(f"  [bold]{name:<11}[/bold] {steps}")
    console.print("\n  Patients in equivalence classes smaller than 11:")
    for text, scheme in _schemes(hierarchies):
        console.print(f"    {text:<65} {_in_small_groups(table, hierarchies, scheme, table.quasi):>6.1%}")
    console.print("  [dim]The policy requires classes of at least 11 patients: k = 11.[/dim]")


def _schemes(hierarchies: dict[str, Hierarchy]) -> tuple[tuple[str, dict[str, int]], ...]:
    """Return three schemes of increasing generalisation, each with a description and the levels."""
    lowest = dict.fromkeys(hierarchies, 0)
    middle = {**lowest, "birth_date": 2, "postcode": 2, "occupation": 2}
    coarse = {**lowest, "birth_date": 3, "postcode": 3, "occupation": 3, "ethnicity": 1, "marital_status": 1}
    return (
        ("original values", lowest),
        ("year of birth, postcode area, 5 occupation groups", middle),
        ("decade of birth, postcode zone, 2 occupation groups, no marital status", coarse),
    )


def _example(ladder: Hierarchy, codes: Codes) -> int:
    """Return a frequent value that changes on the first level, as an example."""
    counts = np.bincount(codes, minlength=len(ladder.leaves))
    moved = [low != high for low, high in zip(ladder.labels(0), ladder.labels(1), strict=True)]
    return int(np.where(moved, counts, 0).argmax())


def _in_small_groups(
    table: Table, hierarchies: dict[str, Hierarchy], scheme: dict[str, int], quasi: tuple[str, ...]
) -> float:
    """Return the share of persons in classes of fewer than 11 under a scheme."""
    rows = table.distinct(quasi)
    codes = [hierarchies[name].nodes(scheme[name])[column] for name, column in zip(quasi, rows.codes, strict=True)]
    groups = group_rows(codes, [len(hierarchies[name].levels[scheme[name]]) for name in quasi], len(rows))
    sizes = np.bincount(groups.ids, weights=rows.counts)
    return float(sizes[sizes < 11].sum()) / table.records


def _show_assessment(assessment: Assessment, console: "Console") -> None:
    _heading(console, 5, "Risk assessment of the original table")
    console.print(f"  [bold]k = {assessment.k}[/bold]  {assessment.meaning}")
    for risk in (assessment.prosecutor, assessment.journalist):
        console.print(
            f"  {risk.adversary:<10} {risk.expected:>5,.0f} expected re-identifications  [dim]{risk.meaning}[/dim]",
            soft_wrap=True,
        )
    worst, best = assessment.attributes[0], assessment.contributions[0]
    console.print(
        f"  {worst.column} is disclosed with certainty for {worst.certain:,} patients. Its most frequent value, as a "
        f"guess without the table, is right for {share_of(float(worst.baseline))}.",
        soft_wrap=True,
    )
    console.print(
        f"  Largest contribution: {best.column}; without it, {best.without.alone:,} patients would be unique."
    )
    for judged in assessment.requirements:
        verdict = "met" if judged.verdict.satisfied else "not met"
        asked = ", ".join(f"{name} = {value}" for name, value in judged.verdict.parameters.items())
        console.print(f"  The policy requires {judged.verdict.model} with {asked}: [bold]{verdict}[/bold].")


def _show_peers(people: People, folder: Path, console: "Console", *, force: bool) -> None:
    _heading(console, 6, "Protection against all combinations of background knowledge")
    summary = people.summary()
    worst = max(people.counted.table.sensitive, key=lambda name: float(summary[name]["share_breached"]))
    known = len(people.counted.table.quasi) + len(people.counted.table.sensitive) - 1
    console.print(
        f"  One sensitive attribute is inferred, the other {known} attributes may be known: "
        f"{people.plan.combinations:,} combinations."
    )
    console.print(
        f"  {worst} is disclosed for {share_of(summary[worst]['share_breached'])} of the patients, "
        f"for {people.breached_by_few(worst)} by at most three attributes."
    )
    facts = next(fact for fact in people.for_person(0) if fact.variable == worst)
    if facts.minimal:
        console.print(f"  The first patient's {facts.variable} is disclosed by {' + '.join(facts.minimal[0])}.")
    if find_spec("vl_convert") is None:
        console.print(r'  [dim]With pip install "shoal\[report]" a chart would be drawn as well.[/dim]')
    else:
        path = charts.heatmap(people).save(folder / "people.svg", force=force)
        console.print(f"  {path}  [dim]every patient and every variable in one chart[/dim]")


def _show_cost(table: Table, hierarchies: dict[str, Hierarchy], console: "Console") -> None:
    _heading(console, 7, "Protection and information loss")
    console.print("  Information loss, and number of unique patients:")
    for text, scheme in _schemes(hierarchies):
        recoding = Recoding.of_scheme(table, hierarchies, {name: scheme[name] for name in table.quasi})
        lost = NonUniformEntropy().measure(recoding).total
        alone = int(np.count_nonzero(recoding.classes.sizes == 1))
        share = 0.0 if lost is None else lost.cost
        console.print(f"    {text:<65} {share:>4.0%} {alone:>5,}")
    console.print("  [dim]shoal compare has 22 measures for any release, including those of other tools.[/dim]")


def _show_release(release: Release, folder: Path, console: "Console", *, force: bool) -> None:
    _heading(console, 8, "Release by local recoding, verified in the written file")
    console.print("  Patients on each level of the hierarchies, from the original value to *:")
    for name, records in release.levels.items():
        console.print(f"    {name:<15} " + "  ".join(f"{number:>6,}" for number in records))
    for requirement in release.requirements:
        value = ", ".join(f"{name} = {attained}" for name, attained in requirement.verdict.value.items())
        console.print(f"  The written file attains {requirement.verdict.model} with [bold]{value}[/bold] (verified).")
    console.print(f"  {release.table.records:,} patients released, {release.suppressed:,} suppressed.")
    for path in release.save(folder / "release.csv", force=force):
        console.print(f"  {path}")


def _show_attack(release: Release, table: Table, register: Table, console: "Console") -> None:
    _heading(console, 9, "Attacks with the register")
    for text, attacked in (("the table without its names", table), ("the release", release)):
        attacks = attack(
            table, attacked, release.policy, external=register, in_order=attacked is table, attacks=["linkage"]
        )
        link = attacks.of("linkage", variant="register")
        console.print(
            f"  Of {text}, {share_of(link.success.value)} are re-identified; baseline {share_of(link.baseline)}."
        )
    column = "hypertension"
    inferred = attack(table, release, sensitive=[column], attacks=["inference"]).of("inference", column)
    console.print(
        f"  The nearest record has the true {column} for {share_of(inferred.success.value)}; the baseline is "
        f"{share_of(inferred.baseline)}.\n  k-anonymity does not prevent this inference."
    )
    console.print("  [dim]shoal attack runs up to fifteen more, each with baseline and interval.[/dim]")


def _show_report(  # noqa: PLR0913 - the inputs of a step
    release: Release, table: Table, register: Table, folder: Path, console: "Console", *, force: bool
) -> None:
    _heading(console, 10, "Report for the owner and for publication")
    tried = attack(table, release, external=register, attacks=ATTACKS)
    documents = report(
        release.given,
        release,
        tried,
        people=peers(table, release.policy),
        title="The demo hospital: anonymisation report",
    )
    for document, name, says in (
        (documents, "report.html", "for the owner: all figures and charts"),
        (
            documents.external(),
            "report-external.html",
            f"for publication: no figure about fewer than {documents.audience.least} individuals",
        ),
    ):
        path = document.save(folder / name, force=force)
        console.print(f"  {path}  [dim]{says}[/dim]")
    console.print("  [dim]Open them in a browser. They work offline and can be printed.[/dim]")


def _show_dataset(folder: Path, console: "Console", *, seed: int, force: bool) -> None:
    _heading(console, 11, "Four linked tables as one dataset")
    for name, content in (
        ("dataset.toml", files("shoal.demo").joinpath("dataset.toml").read_bytes()),
        ("demo.key", sha256(f"the demo hospital {seed}".encode()).hexdigest().encode()),
    ):
        with replacing(folder / name, force=force) as beside:
            beside.write_bytes(content)
    dataset = Dataset.read(folder, folder / "dataset.toml")
    console.print(f"  References: {', '.join(map(str, dataset.references))}.")
    before, release = assess(dataset), anonymize(dataset)
    for name, part in release.parts.items():
        attained = ", ".join(requirement.verdict.attained for requirement in part.requirements)
        console.print(
            f"  {name:<11} {dataset.tables[name].records:>6,} records, k = {before[name].k} → "
            f"{part.table.records:>6,} records, [bold]{attained}[/bold]"
        )
    console.print("  Knowledge of a patient and one admission matches at least eleven patients, in every table.")
    console.print("  [dim]Keys are pseudonyms and dates are shifted. All references between the tables are kept.[/dim]")
    release.save(folder / "dataset-release", force=force)
    tried = attack(dataset, release, attacks="linkage")
    for name, result in tried.tables.items():
        linked = result.of("linkage")
        console.print(
            f"  linkage of {name:<11} {share_of(linked.success.value)} [dim]baseline {share_of(linked.baseline)}[/dim]"
        )
    document = report(dataset, release, tried, title="The demo hospital: report on four tables")
    document.save(folder / "dataset-report.html", force=force)
    console.print(f"  {folder / 'dataset-release'}, {folder / 'dataset-report.html'}")


def _show_end(folder: Path, console: "Console") -> None:
    _heading(console, 12, "Next steps")
    console.print(f"  shoal assess {folder / 'patients.csv'} --policy {folder / 'policy.toml'}")
    console.print("  [dim]risk assessment on one screen[/dim]")
    console.print(f"  shoal peers {folder / 'patients.csv'} --policy {folder / 'policy.toml'} --person 0")
    console.print("  [dim]attributes that disclose values of a patient[/dim]")
    console.print(f"  shoal anonymize {folder / 'patients.csv'} --policy {folder / 'policy.toml'} --frontier")
    console.print("  [dim]information loss for every k[/dim]")
    console.print(
        f"  shoal attack {folder / 'patients.csv'} {folder / 'release.csv'} --policy {folder / 'policy.toml'} "
        f"--register {folder / 'register.csv'}"
    )
    console.print("  [dim]all attacks that apply[/dim]")
    console.print(
        f"  shoal report {folder / 'patients.csv'} --policy {folder / 'policy.toml'} -o my-report.html "
        "--predict hypertension"
    )
    console.print("  [dim]report with all attacks and predictive performance[/dim]")
    console.print(f"  shoal serve {folder / 'patients.csv'} --policy {folder / 'policy.toml'}")
    console.print("  [dim]workbench in the browser[/dim]")
    console.print(f"  shoal init {folder / 'admissions.csv'} -o my-policy.toml")
    console.print("  [dim]starter policy with comments; a folder of tables gives a policy of a dataset[/dim]\n")


def _heading(console: "Console", number: int, text: str) -> None:
    console.print(f"\n[bold cyan]{number}[/bold cyan] [bold]{text}[/bold]")
