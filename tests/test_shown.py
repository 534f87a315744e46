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
RELEASE = shoal.anonymize(DATA, POLICY)
RESULTS = {
    "table": (shoal.read(DATA), "6 records × 3 columns"),
    "found": (shoal.identify(DATA), "because"),
    "assessment": (shoal.assess(DATA, POLICY), "k = 1"),
    "people": (shoal.peers(DATA), "6 persons"),
    "dimension": (shoal.dimension(DATA, POLICY), "Best to make coarser"),
    "frontier": (shoal.frontier(DATA, POLICY, sizes=(2, 3)), "lowest loss"),
    "release": (RELEASE, "k ≥ 2: met"),
    "comparison": (shoal.compare(DATA, RELEASE), "6 released"),
    "attacked": (shoal.attack(RELEASE, DATA, attacks=["homogeneity"]), "homogeneity of dx"),
    "report": (RELEASE.report(), "Summary"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself(name):
    result, says = RESULTS[name]
    lines = repr(result).splitlines()
    assert any(says in line for line in lines)
    assert len(lines) < 60
    made = result._repr_html_()
    assert "<table" in made
    html5lib.HTMLParser(strict=True).parseFragment(made)
    sheet = result.sheet()
    assert all(len(row) == len(sheet.headings) for row in sheet.rows)


def test_no_cell_of_the_data_is_shown():
    for name, (result, _) in RESULTS.items():
        assert "gout" not in repr(result), name


def test_markup_is_escaped():
    made = Sheet("<b>", ("<i>",), (("<script>",),), ("&",)).html()
    assert "<script>" not in made
    assert "&lt;b&gt;" in made


def test_a_sheet_without_rows_has_no_head():
    assert Sheet("Nothing.", ("a", "b"), ()).text() == "Nothing."
    assert "<table" not in Sheet("Nothing.", ("a", "b"), ()).html()
