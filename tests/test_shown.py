"""Results show themselves: as lines in a terminal, as a table in a notebook."""

import html5lib
import pytest

import shoal
from shoal.sheet import Sheet

DATA = {"age": [31, 34, 38, 71, 75, 78], "sex": list("ffmmfm"), "dx": ["flu", "ms", "flu", "ms", "flu", "gout"]}
POLICY = shoal.Policy.parse("""
version = 1
columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
columns.sex = "quasi"
columns.dx = "sensitive"
require = [{ model = "k-anonymity", k = 2 }]
""")
SAYS = {
    "table": "6 records × 3 columns",
    "found": "contribution",
    "assessment": "k = 1",
    "people": "6 individuals",
    "dimension": "Recommended generalisation",
    "frontier": "Lowest loss",
    "release": "k ≥ 2: met",
    "comparison": "6 released",
    "attacked": "homogeneity of dx",
    "report": "Summary",
}


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(DATA, POLICY)


@pytest.fixture(scope="module")
def results(release):
    return {
        "table": shoal.read(DATA),
        "found": shoal.identify(DATA),
        "assessment": shoal.assess(DATA, POLICY),
        "people": shoal.peers(DATA),
        "dimension": shoal.dimension(DATA, POLICY),
        "frontier": shoal.frontier(DATA, POLICY, sizes=(2, 3)),
        "release": release,
        "comparison": shoal.compare(DATA, release),
        "attacked": shoal.attack(DATA, release, attacks=["homogeneity"]),
        "report": shoal.report(release.given, release),
    }


@pytest.mark.parametrize("name", SAYS)
def test_a_result_shows_itself(results, name):
    result = results[name]
    lines = repr(result).splitlines()
    assert any(SAYS[name] in line for line in lines)
    assert len(lines) < 60
    made = result._repr_html_()
    assert "<table" in made
    html5lib.HTMLParser(strict=True).parseFragment(made)
    sheet = result.sheet()
    assert all(len(row) == len(sheet.headings) for row in sheet.rows)


def test_no_cell_of_the_data_is_shown(results):
    for name, result in results.items():
        assert "gout" not in repr(result), name


def test_markup_is_escaped():
    made = Sheet("<b>", ("<i>",), (("<script>",),), ("&",)).html()
    assert "<script>" not in made
    assert "&lt;b&gt;" in made


def test_a_sheet_without_rows_has_no_head():
    assert Sheet("Nothing.", ("a", "b"), ()).text() == "Nothing."
    assert "<table" not in Sheet("Nothing.", ("a", "b"), ()).html()
