"""Reports: they say what was found, open anywhere, and tell others nothing about few persons."""

import base64
import json
import re
from collections import Counter
from itertools import pairwise

import html5lib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples, tiered

import shoal
from shoal.errors import ReportError, WriteError
from shoal.reporting.chapters.chapter import CHAPTERS
from shoal.reporting.document import Code, Facts, Figure, Listing, Section, Signature, Text
from shoal.sheet import Sheet

K = 5
HTML = "{http://www.w3.org/1999/xhtml}"


def people(number=400, seed=1):
    """Return a table with values that name persons, or that few have: canaries."""
    rng = np.random.default_rng(seed)
    data = {
        "name": [f"canaryname{place}" for place in range(number)],
        "age": rng.integers(20, 80, number).tolist(),
        "town": rng.choice(["north", "south", "east"], number).tolist(),
        "dx": rng.choice(["flu", "gout", "ms"], number).tolist(),
        "ward": rng.choice(["a1", "b2"], number).tolist(),
        "lab": rng.normal(100, 15, number).round(3).tolist(),
    }
    data["town"][7] = "canarytown"
    data["dx"][8] = "canarydx"
    data["dx"][9] = "canarydx"
    data["ward"][10] = "canaryward"
    data["lab"][11] = 987654.321
    return data


def policy(more="", search="suppression = 0.05", columns=""):
    return shoal.Policy.parse(f"""
version = 1
[columns]
name = "direct"
age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 30] }} }}
town = "quasi"
dx = "sensitive"
ward = "insensitive"
lab = "insensitive"
{columns}
[[require]]
model = "k-anonymity"
k = {K}
{more}
[search]
{search}
[context]
recipient = "a university"
deliberate = 0.3
[publish]
attacks = true
""")


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(people(), policy())


@pytest.fixture(scope="module")
def made(release):
    tried = shoal.attack(release.given, release, attacks=["linkage", "singling-out", "homogeneity", "inference"])
    about = shoal.peers(release.given, release.policy)
    found = shoal.compare(release.given, release)
    return shoal.report(
        release.given,
        release,
        tried,
        people=about,
        frontier=shoal.frontier(release.given, release.policy),
        schemes=shoal.schemes(release.given, release.policy),
        analyses=[found.learning("dx", ["age", "town"], model="logistic"), found.regression("lab", ["town"])],
    )


@pytest.fixture(scope="module")
def external(made):
    return made.external()


def blocks(held):
    for one in held:
        yield one
        yield from blocks(getattr(one, "blocks", ()))


def parsed(page):
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=True).parse(page)


def all_text(report):
    """Return all that a report says, also in its pictures."""
    page = report.to_html()
    drawn = [
        base64.b64decode(one).decode() for one in re.findall(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)", page)
    ]
    assert drawn
    return "\n".join([page, *drawn, report.to_markdown(), report.to_json()])


CANARIES = ["canaryname", "canarytown", "canarydx", "canaryward", "987654"]


def test_others_are_told_no_rare_value_and_no_name(made, external):
    said = all_text(external)
    base64s = re.compile(r"base64,[A-Za-z0-9+/=]+")
    said = base64s.sub("", said)
    for canary in CANARIES:
        assert canary not in said
    owner = made.to_markdown()
    assert "canaryward" in owner  # the owner sees it: the test would notice if it looked in vain
    assert "canaryname" not in base64s.sub("", all_text(made))


def test_others_are_told_no_small_number_of_persons(external):
    """Every number in a table that counts persons or records is 0, or at least k."""
    counts = 0
    for sheet in (one for one in blocks(external.sections) if isinstance(one, Sheet)):
        for place, heading in enumerate(sheet.headings):
            if heading in {"records", "targets", "missing", "not shown (*)", "release"}:
                for row in sheet.rows:
                    if re.fullmatch(r"[\d,]+", row[place]):
                        counts += 1
                        assert int(row[place].replace(",", "")) == 0 or int(row[place].replace(",", "")) >= K
    assert counts > 10
    for figure in (one for one in blocks(external.sections) if isinstance(one, Figure)):
        spec = json.dumps(figure.chart.spec)
        assert all(int(number) == 0 or int(number) >= K for number in re.findall(r'"persons": (\d+)', spec))


def test_others_cannot_work_out_how_few_were_left_out(release, external):
    """The release has so many records; if the original's number were told, so would the difference be."""
    assert 0 < release.suppressed < K
    said = re.sub(r"base64,[A-Za-z0-9+/=]+", "", all_text(external))
    said = re.sub(r"\b[0-9a-f]{16,}\b", "", said)  # hashes
    words = re.findall(r"(?<![\d.,])\d[\d,]*(?![\d.%])", re.sub(r"about [\d,]+", "", said))
    assert f"{release.given.records}" not in words
    assert "fewer than 5" in said


def test_values_of_persons_with_many_records_are_rare_all_the_same():
    """Fifty records of one person are one person."""
    data = people(300)
    data["who"] = [f"p{place}" for place in range(300)]
    for name, held in data.items():
        held.extend([held[0]] * 50 if name != "ward" else ["canarystay"] * 50)
    told = policy(columns="", more="", search="suppression = 0.1").model_copy()
    named = told.model_copy(update={"data": told.data.model_copy(update={"subject": "who"})})
    release = shoal.anonymize(data, named)
    report = shoal.report(release.given, release)
    assert "canarystay" in report.to_markdown()
    assert "canarystay" not in report.external().to_json()


@pytest.mark.parametrize(("which", "drawn"), [("made", 10), ("external", 1)])
def test_the_page_is_valid_and_stands_alone(which, drawn, request):
    page = request.getfixturevalue(which).to_html()
    tree = parsed(page)
    tags = Counter(one.tag.removeprefix(HTML) for one in tree.iter() if isinstance(one.tag, str))
    assert not tags.keys() & {"script", "link", "iframe", "object", "embed", "form", "base"}
    for one in tree.iter():
        for name, value in one.attrib.items():
            assert not name.startswith("on")
            if name in {"src", "href", "action", "data", "srcset"}:
                assert value.startswith(("#", "data:image/svg+xml;base64,"))
    assert "@import" not in page
    assert "url(" not in page
    pictures = [one for one in tree.iter() if one.tag == f"{HTML}img"]
    assert len(pictures) >= drawn
    assert all(len(one.attrib["alt"]) > 20 for one in pictures)
    anchors = [one.attrib["id"] for one in tree.iter() if "id" in one.attrib]
    assert len(anchors) == len(set(anchors))
    links = {one.attrib["href"].removeprefix("#") for one in tree.iter() if one.tag == f"{HTML}a"}
    assert links <= set(anchors)
    headings = [int(one.tag[-1]) for one in tree.iter() if re.fullmatch(rf"{re.escape(HTML)}h\d", str(one.tag))]
    assert headings[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(headings[1:]) if after < 4)


def test_all_chapters_are_there(made, external):
    for report in (made, external):
        assert len(report.sections) == len(CHAPTERS)
        page, text = report.to_html(), report.to_markdown()
        for section in report.sections:
            assert f'id="{section.anchor}"' in page
            assert f"## {section.title}" in text


def test_what_it_says_is_what_was_found(release, made):
    rows = {row[0]: row[1:] for row in made.sections[0].blocks[1].rows}
    assert rows["records"] == ("400", f"{release.table.records}")
    assert rows["suppressed persons" if "suppressed persons" in rows else "suppressed records"][1].startswith(
        str(release.suppressed)
    )
    risk = next(one for one in made.sections if one.anchor == "risk")
    required = next(one for one in risk.blocks if isinstance(one, Sheet))
    found = release.requirements[0].verdict.value["k"]
    assert required.rows[0] == ("k-anonymity", f"k ≥ {K}", "k = 1", f"k = {found}", "met (verified)", "policy")
    tried = next(one for one in made.sections if one.anchor == "attacks")
    sheet = next(one for one in tried.blocks if isinstance(one, Sheet))
    linkage = next(row for row in sheet.rows if row[0] == "linkage")
    assert linkage[2] == f"{made.findings.attacks.of('linkage').success.value:.1%}"


def test_every_technique_is_called_by_its_name(release):
    """Age is made coarser, town is not; the scheme says so, too."""
    from shoal.reporting.chapters.variables import technique

    found = shoal.report(release.given, release).findings
    said = {name: technique(found, name) for name in found.original.names}
    assert said["name"] == "removed"
    assert said["dx"] == said["lab"] == "released unchanged"
    names = {0: "released unchanged", 1: "generalisation to level 1 of 3", 2: "generalisation to level 2 of 3"}
    assert said["age"] == names[release.scheme["age"]]
    assert said["town"] == {0: "released unchanged", 1: "suppression of all values"}[release.scheme["town"]]


def test_the_same_bytes_again(release):
    one, two = (shoal.report(release.given, release) for _ in range(2))
    assert one.to_html() == two.to_html()
    assert one.to_json() == two.to_json()
    assert one.external().to_markdown() == two.external().to_markdown()


def test_a_failing_release_is_called_that():
    data = people()
    unnamed = {name: held for name, held in data.items() if name != "name"}
    report = shoal.report(data, unnamed, policy=policy())
    assert report.sections[0].blocks[0].tone == "bad"
    assert not report.findings.met
    assert "does not meet the requirement of the policy" in report.to_markdown()
    assert "canarytown" not in report.external().to_json()


def test_a_table_that_was_made_elsewhere(release):
    frame = release.to_frame("pyarrow").to_pydict()
    report = shoal.report(people(), frame, policy=policy())
    assert report.findings.met
    assert report.findings.after.k == release.requirements[0].verdict.value["k"]
    assert "The way in which this release was made is not recorded" in report.to_markdown()
    parsed(report.to_html())


MEAN = 'age = { role = "quasi", show = "mean", hierarchy = { kind = "interval", widths = [10, 30] } }'


@pytest.mark.parametrize(
    ("search", "columns", "more"),
    tiered(
        [
            ('recoding = "local"\nsuppression = 0.05', "", ""),
            ('recoding = "mondrian"', "", ""),
            ('suppression = 0.05\noutliers = "counterfeits"', "", ""),
            ("suppression = 0.05\nsample = 0.7", "", "[population]\nfraction = 0.1"),
            ("suppression = 0.3", "", '[data]\nmissing = "never"'),
            ('recoding = "local"\nsuppression = 0.05\nrefine = true', "", ""),
            ('recoding = "mondrian"\ncuts = "anywhere"', "", ""),
            ('recoding = "suppression"\nsuppression = 0.1', "", ""),
            ('suppression = 0.05\noutliers = "relocate"', "", ""),
            ('suppression = 0.05\noutliers = "cells"', "", ""),
            ("suppression = 0.2\nsample = 0.7", "", ""),
            ("suppression = 1", "", ""),
            ("suppression = 0.05", MEAN, ""),
            ("suppression = 0.05", "", "[population]\nsize = 4000"),
            ('suppression = 0.05\noutliers = "counterfeits"', "", "[population]\nsize = 400"),
        ],
        quick=5,
    ),
)
def test_every_way_to_make_a_release(search, columns, more):
    text = toml_of(search, columns, more)
    release = shoal.anonymize(people(), shoal.Policy.parse(text))
    tried = shoal.attack(release.given, release, attacks=["linkage", "homogeneity"])
    report = shoal.report(release.given, release, tried)
    found = report.findings
    assert found.met
    assert found.before.k == shoal.assess(people(), release.policy).k
    assert found.after.k == release.requirements[0].verdict.value["k"]
    drawn = release.internal.get("sample", release.internal["input"])["persons"]
    assert found.left_out == drawn - np.count_nonzero(release.records >= 0)
    assert 0 <= found.comparison.quality["suppressed-records"].total.cost <= 1
    if not columns and "mondrian" not in search:
        lost = found.comparison.quality["suppressed-records"].total.value
        assert lost == pytest.approx(found.left_out / drawn)
    parsed(report.to_html())
    said = report.external().to_json()
    assert not any(canary in said for canary in CANARIES)


def toml_of(search, columns, more):
    from shoal import toml

    plain = toml.document(policy(search=search).document())
    lines = [line for line in plain.splitlines() if not (columns and line.startswith("age = "))]
    return "\n".join(lines).replace("[columns]", f"[columns]\n{columns}") + f"\n{more}\n"


def test_the_population_is_not_drawn_from_twice():
    """A tenth of the people are in the table, and a tenth of those in the release: it is still the same population."""
    text = toml_of("suppression = 0.2\nsample = 0.5", "", "[population]\nfraction = 0.1")
    release = shoal.anonymize(people(), shoal.Policy.parse(text))
    assert release.part.promise.original.population.size == 4000


def test_persons_who_lost_a_record_are_not_left_out():
    data = people(200)
    data["who"] = [f"p{place % 100}" for place in range(200)]
    told = policy(search="suppression = 0.3")
    named = told.model_copy(update={"data": told.data.model_copy(update={"subject": "who"})})
    release = shoal.anonymize(data, named)
    found = shoal.report(release.given, release).findings
    real = {data["who"][record] for record in release.records}
    assert found.left_out == 100 - len(real)


def test_numbers_that_stay_numbers_can_be_held_against_a_register(tmp_path):
    """Age stays as it is, and the register is text to whoever reads the file."""
    data = {"age": [30] * 20 + [40] * 20, "dx": ["a", "b"] * 20}
    shoal.write(shoal.read({"age": [30] * 60 + [40] * 60}), tmp_path / "register.csv")
    (tmp_path / "p.toml").write_text(
        'version = 1\ncolumns.age = "quasi"\ncolumns.dx = "sensitive"\n'
        'require = [{ model = "k-map", k = 50 }]\npopulation = { file = "register.csv" }\n',
        encoding="utf-8",
    )
    report = shoal.report(data, shoal.anonymize(data, tmp_path / "p.toml"))
    assert report.findings.met
    assert report.findings.after.journalist.maximum == pytest.approx(1 / 60)


def test_signs_that_no_page_can_show():
    data = {"q": ["a\x07b", "c\x0bd"] * 20, "n\x00": list(range(40))}
    told = shoal.Policy.parse(
        'version = 1\ncolumns.q = "quasi"\ncolumns."n\\u0000" = "insensitive"\n'
        'require = [{ model = "k-anonymity", k = 2 }]'
    )
    report = shoal.report(data, shoal.anonymize(data, told))
    pages = [report.to_html(), report.findings.original._repr_html_()]
    parsed(pages[0])
    html5lib.HTMLParser(strict=True).parseFragment(pages[1])
    assert not any(sign in page for sign in "\x00\x07\x0b" for page in pages)


def test_names_and_values_are_never_markup():
    evil = '<script>alert("1")</script>'
    data = {evil: ["{{7*7}}", "a|b"] * 20, "*b*": ["<img src=x onerror=y>", "c"] * 20, "n": list(range(40))}
    told = shoal.Policy.parse(f"""
version = 1
[columns]
'{evil}' = "quasi"
"*b*" = "sensitive"
n = "insensitive"
[[require]]
model = "k-anonymity"
k = 2
""")
    report = shoal.report(data, shoal.anonymize(data, told), title=f"About {evil}")
    for one in (report, report.external()):
        page = one.to_html()
        tree = parsed(page)
        assert not [held for held in tree.iter() if held.tag == f"{HTML}script"]
        assert "{{7*7}}" in page
        assert not re.search(r"(?<!\\)<(script|img)", one.to_markdown())
        json.loads(one.to_json())


def test_code_in_markdown_ends_where_it_should_and_says_the_same():
    name = "a```<b>"
    told = f'version = 1\n[columns]\n"{name}" = "quasi"\n[[require]]\nmodel = "k-anonymity"\nk = 2\n'
    report = shoal.report({name: [1, 1]}, shoal.anonymize({name: [1, 1]}, shoal.Policy.parse(told)))
    (policy,) = re.findall(r"(?ms)^(`{4,})\n(version = 1.*?)\n\1$", report.to_markdown())
    assert set(shoal.Policy.parse(policy[1]).columns) == {name}


def test_signs_that_no_picture_can_show_are_replaced():
    """The converter of pictures ends Python where text has a control character."""
    name = "a\x01\x1b[31m"
    roles = 'columns = { "a\\u0001\\u001B[31m" = "quasi", b = "sensitive" }'
    told = shoal.Policy.parse(f'version = 1\n{roles}\nrequire = [{{ model = "k-anonymity", k = 2 }}]')
    release = shoal.anonymize({name: ["x\x07", "y"] * 10, "b": ["\x00", "z"] * 10}, told)
    page = shoal.report(release.given, release).to_html()
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", page)


def test_the_codebook_describes_numbers_as_statistics_packages_do():
    """Mean, standard deviation and quartiles of pandas; dates are not interpolated."""
    rng = np.random.default_rng(5)
    cost = pd.Series(rng.integers(1000, 9000, 98) / 100)
    day = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(98), unit="D"))
    told = shoal.Policy.parse(
        'version = 1\ncolumns = { sex = "quasi", cost = "insensitive", day = "insensitive" }\n'
        'require = [{ model = "k-anonymity", k = 2 }]'
    )
    frame = pd.DataFrame({"sex": ["f", "m"] * 49, "cost": cost, "day": day})
    report = shoal.report(frame, shoal.anonymize(frame, told))
    described = [one for one in blocks(report.sections) if isinstance(one, Sheet) and one.headings == ("", "value")]
    sheets = {one.title: dict(one.rows) for one in described}
    found = {name: float(value) for name, value in sheets["cost"].items() if name != "records with a value"}
    names = {"first quartile": 0.25, "median": 0.5, "third quartile": 0.75, "smallest": 0, "largest": 1}
    expected = {name: cost.quantile(share) for name, share in names.items()}
    assert found == pytest.approx({"mean": cost.mean(), "standard deviation": cost.std(), **expected}, rel=1e-3)
    assert sheets["day"]["median"] == "2024-02-18T00:00:00"


def test_very_small_and_very_dull_tables():
    small = shoal.Policy.parse('version = 1\ncolumns.x = "quasi"\nrequire = [{ model = "k-anonymity", k = 2 }]')
    for data in ({"x": [1, 1]}, {"x": ["a"] * 5}, {"x": [None, None, "a", "a"]}):
        report = shoal.report(data, shoal.anonymize(data, small))
        assert report.findings.met
        for page in (report.to_html(), report.external().to_html()):
            assert parsed(page).find(f".//{HTML}h1") is not None


def test_it_can_be_written_in_three_ways(tmp_path, release):
    report = shoal.report(release.given, release)
    for name in ("r.html", "r.md", "r.json"):
        path = report.save(tmp_path / name)
        assert path.stat().st_size > 1000
        with pytest.raises(WriteError):
            report.save(path)
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["external"] is False
    with pytest.raises(WriteError, match="suffix"):
        report.save(tmp_path / "r.docx")


def test_what_cannot_be_reported(release):
    with pytest.raises(ReportError, match="A report on a table made elsewhere requires the policy"):
        shoal.report(people(), people())
    with pytest.raises(ReportError, match="original comes first"):
        shoal.report(release, release.given)
    with pytest.raises(ReportError, match="The release was not made from this original"):
        shoal.report(people(50), release)
    with pytest.raises(ReportError, match="The argument attacks is not a result of shoal"):
        shoal.report(release.given, release, {"linkage": 1})
    with pytest.raises(ReportError, match="none of the quasi-identifiers"):
        shoal.report(people(), {"other": [1, 2]}, policy=policy())


def test_without_the_program_that_draws(release, monkeypatch):
    monkeypatch.setattr("shoal.reporting.as_html.find_spec", lambda _: None)
    page = shoal.report(release.given, release).to_html()
    assert "<img" not in page
    assert "vl-convert" in page
    parsed(page)


def test_every_kind_of_block_is_written_in_every_way():
    from shoal.reporting.as_html import as_html
    from shoal.reporting.as_json import as_json
    from shoal.reporting.as_markdown import as_markdown
    from shoal.reporting.audience import Audience

    held = (
        Text("a text"),
        Facts((("a name", "a fact"),)),
        Listing(("a point",), open=True),
        Code("a code", "x = 1 < 2"),
        Signature(("a line",)),
        Sheet("a sheet", ("a", "b"), (("c", "d"),), ("a note",)),
    )
    sections = [Section("A title", "title", held)]
    for write in (as_html, as_json, as_markdown):
        said = write("A report", Audience(external=False, least=2), sections)
        for part in ("a text", "a name", "a fact", "a point", "a code", "a line", "a sheet", "a note", "A title"):
            assert part in said


@examples(25)
@given(st.data())
def test_others_are_never_told_a_value_that_few_have(data):
    """Whatever the table: each word that is a value of the data belongs to at least k persons."""
    number, k = data.draw(st.integers(20, 60)), data.draw(st.integers(2, 6))
    names = ["q1", "q2", "s1", "i1"]
    table = {name: [f"val{name}x{data.draw(st.integers(0, 7))}end" for _ in range(number)] for name in names}
    whose = data.draw(st.booleans())
    if whose:
        table["who"] = [f"p{data.draw(st.integers(0, number // 2))}" for _ in range(number)]
    recoding = "global" if whose else data.draw(st.sampled_from(["global", "local"]))
    told = shoal.Policy.parse(f"""
version = 1
{'data.subject = "who"' if whose else ""}
columns.q1 = "quasi"
columns.q2 = "quasi"
columns.s1 = "sensitive"
columns.i1 = "insensitive"
require = [{{ model = "k-anonymity", k = {k} }}]
search = {{ suppression = 1.0, recoding = "{recoding}" }}
""")
    try:
        release = shoal.anonymize(table, told)
    except shoal.ShoalError:
        return  # nothing can be had
    holders = {}
    for name in names:
        for place, value in enumerate(table[name]):
            holders.setdefault(value, set()).add(table["who"][place] if whose else place)
    said = shoal.report(release.given, release, external=True).to_json()
    for word in set(re.findall(r"val[qsi]1x\dend", said)) | set(re.findall(r"valq2x\dend", said)):
        assert len(holders[word]) >= k


def test_individuals_with_one_record_each_are_counted_without_their_column():
    """A subject column that is not released does not make the classes of one-record individuals uncountable."""
    text = """
    version = 1
    data.subject = "who"
    require = [{ model = "k-anonymity", k = 5 }]
    columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 50] } }
    """
    data = {"who": [f"p{number}" for number in range(200)], "age": [20 + number % 40 for number in range(200)]}
    release = shoal.anonymize(data, shoal.Policy.parse(text))
    public = shoal.report(data, release, external=True).to_markdown()
    assert "Smallest equivalence class (individuals) | 5 |" in public.replace("\\", "")
    assert "Values are therefore not listed" not in public
    twice = {name: [*values, *values] for name, values in data.items()}
    public = shoal.report(twice, shoal.anonymize(twice, shoal.Policy.parse(text)), external=True).to_markdown()
    assert "Values are therefore not listed" in public
