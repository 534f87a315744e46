"""The tour: every stage that exists, on the made-up hospital, in plain words."""

from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shoal import charts
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
from shoal.verbs.anonymize_dataset import anonymize_dataset
from shoal.verbs.assess import assess
from shoal.verbs.attack import attack
from shoal.verbs.identify import identify
from shoal.verbs.peers import peers

if TYPE_CHECKING:
    from rich.console import Console

FILES = {"register.csv": "population", "patients.csv": "patients", "admissions.csv": "admissions"}
ATTACKS = ("linkage", "singling-out", "linkability", "inference", "homogeneity", "background-knowledge")
FACTS = (
    ("sex", "postcode"),
    ("sex", "birth_date"),
    ("sex", "postcode", "marital_status", "occupation"),
    ("sex", "birth_date", "postcode"),
)


def tour(folder: Path, console: "Console", *, patients: int, seed: int, force: bool) -> None:
    """Write the demo's files into a folder and walk through the stages, telling what happens."""
    console.print("\n[bold]A fish in a shoal is safe because of its peers. So is a patient in a table.[/bold]")
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
    _show_together(folder, console, seed=seed, force=force)
    _show_end(folder, console)


def _make_up(folder: Path, console: "Console", *, patients: int, seed: int, force: bool) -> None:
    _heading(console, 1, "A hospital is made up")
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
    console.print(f"  {folder / 'policy.toml'}  [dim]what each column is, and what a release must fulfil[/dim]")
    console.print("  [dim]Nobody in these files exists. The register is what an attacker could have.[/dim]")


def _show_columns(table: Table, console: "Console") -> None:
    _heading(console, 2, "The patients are read, and the policy says what each column is")
    for role in (Role.DIRECT, Role.QUASI, Role.SENSITIVE, Role.SUBJECT):
        names = ", ".join(table.with_role(role))
        console.print(f"  [bold]{role:<10}[/bold] {names}\n             [dim]{role.meaning}[/dim]")
    identification = identify(table, orders=256)
    same = sum(finding.role is table.roles.get(name) for name, finding in identification.columns.items())
    console.print(
        f"\n  shoal identify has not seen the policy, and says the same of {same} of {len(identification.columns)}."
    )
    shares = {} if identification.contribution is None else identification.contribution.shares
    most = sorted(shares, key=lambda name: -shares[name])[:3]
    named = ", ".join(f"{name.replace('_', ' ')} ({shares[name]:.0%})" for name in most)
    console.print(f"  [dim]What makes most patients unique: {named}.[/dim]")
    for link in identification.links:
        console.print(f"  [dim]And {link}.[/dim]")


def _show_uniqueness(table: Table, register: Table, console: "Console") -> None:
    from rich.table import Table as Grid

    _heading(console, 3, "Names are gone, and yet: who can be found?")
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("  Whoever knows somebody's …", no_wrap=True)
    grid.add_column("alone in\nthe hospital", justify="right")
    grid.add_column("alone in\nthe town", justify="right")
    for facts in FACTS:
        grid.add_row(
            "  " + ", ".join(facts).replace("_", " "),
            f"{_alone(table, facts):.1%}",
            f"{_alone(register, facts):.1%}",
        )
    console.print(grid)
    console.print("  [dim]Who is alone can be looked up in the register: a name for every diagnosis.[/dim]")


def _alone(table: Table, columns: tuple[str, ...]) -> float:
    """Return the share of records that no other record equals in these columns."""
    counts = table.distinct(columns).counts
    return float(np.count_nonzero(counts == 1)) / table.records


def _show_ladders(hierarchies: dict[str, Hierarchy], table: Table, console: "Console") -> None:
    _heading(console, 4, "Ladders: how a value can say less")
    for name in ("birth_date", "postcode", "occupation"):
        ladder = hierarchies[name]
        code = _example(ladder, table.codes(name))
        steps = " → ".join(str(ladder.labels(level)[code].as_py()) for level in range(ladder.height + 1))
        console.print(f"  [bold]{name:<11}[/bold] {steps}")
    console.print("\n  Patients who share all six quasi-identifiers with fewer than 10 others:")
    for text, scheme in _schemes(hierarchies):
        console.print(f"    {text:<65} {_in_small_groups(table, hierarchies, scheme, table.quasi):>6.1%}")
    console.print("  [dim]The policy asks that nobody is left in so small a group: k = 11.[/dim]")


def _schemes(hierarchies: dict[str, Hierarchy]) -> tuple[tuple[str, dict[str, int]], ...]:
    """Return three ways to say ever less, in words and in levels."""
    lowest = dict.fromkeys(hierarchies, 0)
    middle = {**lowest, "birth_date": 2, "postcode": 2, "occupation": 2}
    coarse = {**lowest, "birth_date": 3, "postcode": 3, "occupation": 3, "ethnicity": 1, "marital_status": 1}
    return (
        ("as they are", lowest),
        ("year of birth, postcode area, 5 occupations", middle),
        ("decade of birth, postcode zone, 2 occupations, no marital status", coarse),
    )


def _example(ladder: Hierarchy, codes: Codes) -> int:
    """Return a frequent value that changes on its way up, for everybody to see."""
    counts = np.bincount(codes, minlength=len(ladder.leaves))
    moved = [low != high for low, high in zip(ladder.labels(0), ladder.labels(1), strict=True)]
    return int(np.where(moved, counts, 0).argmax())


def _in_small_groups(
    table: Table, hierarchies: dict[str, Hierarchy], scheme: dict[str, int], quasi: tuple[str, ...]
) -> float:
    """Return the share of persons whose group has fewer than 11 members under a scheme."""
    rows = table.distinct(quasi)
    codes = [hierarchies[name].nodes(scheme[name])[column] for name, column in zip(quasi, rows.codes, strict=True)]
    groups = group_rows(codes, [len(hierarchies[name].levels[scheme[name]]) for name in quasi], len(rows))
    sizes = np.bincount(groups.ids, weights=rows.counts)
    return float(sizes[sizes < 11].sum()) / table.records


def _show_assessment(assessment: Assessment, console: "Console") -> None:
    _heading(console, 5, "How safe is everybody, as the table stands?")
    console.print(f"  [bold]k = {assessment.k}[/bold]  {assessment.meaning}")
    for risk in (assessment.prosecutor, assessment.journalist):
        console.print(
            f"  {risk.adversary:<10} finds {risk.expected:>5,.0f} of them  [dim]{risk.meaning}[/dim]", soft_wrap=True
        )
    worst, best = assessment.attributes[0], assessment.contributions[0]
    console.print(
        f"  {worst.column} becomes certain for {worst.certain:,} patients; "
        f"guessing without the table is right for {float(worst.baseline):.0%}."
    )
    console.print(f"  Most is gained from {best.column}: without it {best.without.alone:,} would stand alone.")
    for judged in assessment.requirements:
        verdict = "met" if judged.verdict.satisfied else "not met"
        asked = ", ".join(f"{name} = {value}" for name, value in judged.verdict.parameters.items())
        console.print(f"  The policy asks for {judged.verdict.model} with {asked}: [bold]{verdict}[/bold].")


def _show_peers(people: People, folder: Path, console: "Console", *, force: bool) -> None:
    _heading(console, 6, "Nobody knows what an adversary knows: every combination of facts")
    summary = people.summary()
    worst = max(people.counted.table.sensitive, key=lambda name: float(summary[name]["share_breached"]))
    console.print(f"  {people.plan.combinations:,} combinations of what may be known, for every patient:")
    console.print(
        f"  {worst} can be learned about {summary[worst]['share_breached']:.0%} of them, "
        f"about {people.breached_by_few(worst)} from at most three facts."
    )
    facts = next(fact for fact in people.for_person(0) if fact.variable == worst)
    if facts.minimal:
        console.print(f"  The first patient's {facts.variable} is given away by {' + '.join(facts.minimal[0])}.")
    if find_spec("vl_convert") is None:
        console.print(r'  [dim]With pip install "shoal\[report]" this would be drawn, too.[/dim]')
    else:
        path = charts.heatmap(people).save(folder / "people.svg", force=force)
        console.print(f"  {path}  [dim]every patient and every variable in one picture[/dim]")


def _show_cost(table: Table, hierarchies: dict[str, Hierarchy], console: "Console") -> None:
    _heading(console, 7, "Saying less protects, and costs")
    console.print("  What is lost of the information, and how many patients still stand alone:")
    for text, scheme in _schemes(hierarchies):
        recoding = Recoding.of_scheme(table, hierarchies, {name: scheme[name] for name in table.quasi})
        lost = NonUniformEntropy().measure(recoding).total
        alone = int(np.count_nonzero(recoding.classes.sizes == 1))
        share = 0.0 if lost is None else lost.cost
        console.print(f"    {text:<65} {share:>4.0%} {alone:>5,}")
    console.print("  [dim]shoal compare measures this in twenty ways, on any release, whoever made it.[/dim]")


def _show_release(release: Release, folder: Path, console: "Console", *, force: bool) -> None:
    _heading(console, 8, "A release is made, each patient as coarse as needed, and verified from its file")
    console.print("  How many patients show each level of a ladder, from their own value to *:")
    for name, records in release.levels.items():
        console.print(f"    {name:<15} " + "  ".join(f"{number:>6,}" for number in records))
    for requirement in release.requirements:
        value = ", ".join(f"{name} = {attained}" for name, attained in requirement.verdict.value.items())
        console.print(
            f"  The file attains {requirement.verdict.model} with [bold]{value}[/bold]: it was read again to see."
        )
    console.print(f"  {release.table.records:,} patients are in it, {release.suppressed:,} had to be left out.")
    for path in release.save(folder / "release.csv", force=force):
        console.print(f"  {path}")


def _show_attack(release: Release, table: Table, register: Table, console: "Console") -> None:
    _heading(console, 9, "The release is attacked, with the register in hand")
    for text, attacked in (("the table without its names", table), ("the release", release)):
        attacks = attack(
            table, attacked, release.policy, external=register, in_order=attacked is table, attacks=["linkage"]
        )
        link = attacks.of("linkage", variant="register")
        console.print(f"  Of {text}, {link.success.value:.1%} get their right name, {link.baseline:.3%} by guessing.")
    column = "hypertension"
    inferred = attack(table, release, sensitive=[column], attacks=["inference"]).of("inference", column)
    console.print(
        f"  The nearest record tells the {column} of {inferred.success.value:.0%} rightly, always saying the same "
        f"{inferred.baseline:.0%}:\n  k-anonymity does not stop that."
    )
    console.print("  [dim]shoal attack tries up to fifteen more, each with its baseline and interval.[/dim]")


def _show_report(  # noqa: PLR0913 - what a step of the tour has at hand
    release: Release, table: Table, register: Table, folder: Path, console: "Console", *, force: bool
) -> None:
    _heading(console, 10, "All of it is written down, for the owner and for others")
    tried = attack(table, release, external=register, attacks=ATTACKS)
    documents = report(
        release.given,
        release,
        tried,
        people=peers(table, release.policy),
        title="The demo hospital: anonymisation report",
    )
    for document, name, says in (
        (documents, "report.html", "for the owner: every number and picture"),
        (
            documents.external(),
            "report-external.html",
            f"for others: nothing about fewer than {documents.audience.least} persons",
        ),
    ):
        path = document.save(folder / name, force=force)
        console.print(f"  {path}  [dim]{says}[/dim]")
    console.print("  [dim]Open them in a browser; they need no network, and print well.[/dim]")


def _show_together(folder: Path, console: "Console", *, seed: int, force: bool) -> None:
    _heading(console, 11, "Patients and admissions go out together, and still belong together")
    for name, content in (
        ("together.toml", files("shoal.demo").joinpath("together.toml").read_bytes()),
        ("demo.key", sha256(f"the demo hospital {seed}".encode()).hexdigest().encode()),
    ):
        with replacing(folder / name, force=force) as beside:
            beside.write_bytes(content)
    release = anonymize_dataset(folder, folder / "together.toml")
    for name, part in release.parts.items():
        attained = ", ".join(requirement.verdict.attained for requirement in part.requirements)
        console.print(f"  {name:<11} {part.table.records:>6,} records, [bold]{attained}[/bold]")
    console.print("  Whoever knows a patient and one admission finds eleven patients or more.")
    console.print("  [dim]Keys are pseudonyms, dates have moved; every admission still has its patient.[/dim]")
    release.save(folder / "together", force=force)
    console.print(f"  {folder / 'together'}")


def _show_end(folder: Path, console: "Console") -> None:
    _heading(console, 12, "Your turn")
    console.print(f"  shoal assess {folder / 'patients.csv'} --policy {folder / 'policy.toml'}")
    console.print("  [dim]shows all of this on one screen, for your own files as well[/dim]")
    console.print(f"  shoal peers {folder / 'patients.csv'} --policy {folder / 'policy.toml'} --person 0")
    console.print("  [dim]tells which facts give a patient away[/dim]")
    console.print(f"  shoal anonymize {folder / 'patients.csv'} --policy {folder / 'policy.toml'} --frontier")
    console.print("  [dim]shows what every k costs; with -o FILE the best release is made[/dim]")
    console.print(
        f"  shoal attack {folder / 'patients.csv'} {folder / 'release.csv'} --policy {folder / 'policy.toml'} "
        f"--external {folder / 'register.csv'}"
    )
    console.print("  [dim]attacks the release in every way that suits what is given[/dim]")
    console.print(
        f"  shoal report {folder / 'patients.csv'} --policy {folder / 'policy.toml'} -o my-report.html "
        "--predict hypertension"
    )
    console.print("  [dim]writes the whole report, with all attacks, and tells whether a prediction survives[/dim]")
    console.print(f"  shoal serve {folder / 'patients.csv'} --policy {folder / 'policy.toml'}")
    console.print("  [dim]opens the workbench in your browser, with all of this to press[/dim]")
    console.print(f"  shoal init {folder / 'admissions.csv'} -o my-policy.toml")
    console.print("  [dim]writes a policy for a file of yours, with a comment at every step[/dim]\n")


def _heading(console: "Console", number: int, text: str) -> None:
    console.print(f"\n[bold cyan]{number}[/bold cyan] [bold]{text}[/bold]")
