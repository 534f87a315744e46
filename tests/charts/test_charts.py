"""Pictures: what they show is what was found, and they can be drawn."""

import json
import re
import struct
import sys
import zlib
from base64 import b64decode
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import charts
from shoal.charts.colours import BREACH, PROTECTED, rgb
from shoal.charts.heatmap import GAP, HEIGHT, WIDTH
from shoal.charts.raster import png
from shoal.errors import ModelError, RecodingError, WriteError
from shoal.hierarchy.spec import bind_all
from shoal.words import share

SMALL = {"dx": ["flu", "flu", "ms", "ms"], "sex": ["f", "f", "m", "m"], "age": [30, 40, 40, 30]}


def pixels_of(picture):
    """Read an indexed PNG without filters: the palette and the pixels."""
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(picture):
        (length,) = struct.unpack(">I", picture[at : at + 4])
        kind, data = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        assert struct.unpack(">I", picture[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + data)
        chunks[kind], at = data, at + 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    palette = [tuple(chunks[b"PLTE"][place : place + 3]) for place in range(0, len(chunks[b"PLTE"]), 3)]
    return palette, lines[:, 1:]


def raster_of(chart):
    spec = chart.spec["vconcat"][1]["hconcat"][0]
    names = [one["variable"] for one in spec["layer"][1]["data"]["values"]]
    palette, pixels = pixels_of(b64decode(spec["layer"][0]["mark"]["url"].partition(",")[2]))
    assert palette == [*map(rgb, [BREACH, *PROTECTED]), (255, 255, 255)]
    return names, [pixels[place * HEIGHT : (place + 1) * HEIGHT - GAP] for place in range(len(names))]


@given(
    pixels=st.integers(1, 5).flatmap(
        lambda width: st.lists(st.lists(st.integers(0, 2), min_size=width, max_size=width), min_size=1, max_size=5)
    )
)
def test_a_raster_is_read_as_it_was_written(pixels):
    palette, read = pixels_of(png(np.array(pixels, np.uint8), ["#000000", "#ffffff", "#d55e00"]))
    assert read.tolist() == pixels
    assert palette == [(0, 0, 0), (255, 255, 255), (213, 94, 0)]


def test_the_heatmap_shows_exact_shares(shared):
    """Every column of pixels has the breach colour as high as its persons are breached, to the pixel."""
    people = shoal.peers(shoal.read(shared / "data/kroes/adult.csv"))
    names, bands = raster_of(charts.heatmap(people))
    found = people.summary()
    assert [found[name]["breached"] for name in names] == sorted((found[n]["breached"] for n in names), reverse=True)
    ppp = np.stack([people.values(name, "ppp") for name in names])
    breached = ppp == 0
    profiles = np.where(breached, 0, 1 + np.searchsorted([0.2, 0.4, 0.6, 0.8], ppp, "left"))
    order = np.lexsort((*profiles[::-1], -breached.sum(axis=0)))
    edges = np.arange(WIDTH + 1) * len(people) // WIDTH
    for place, band in enumerate(bands):
        for x in range(0, WIDTH, 7):
            persons = profiles[place][order[edges[x] : edges[x + 1]]]
            high = int((band[:, x] == 0).sum())
            exact = (persons == 0).mean() * HEIGHT
            assert abs(min(exact, HEIGHT) - high) <= GAP + 1
            assert set(np.unique(band[:, x])) <= set(np.unique(persons))


def test_the_breach_colour_is_for_breaches_only():
    """Values just above p are not painted as breaches, as the paper's figures do."""
    data = {"s": ["a"] * 995 + ["b"] * 5, "k": [1] * 1000}
    chart = charts.heatmap(shoal.peers(data, sensitive="s"))
    _, (band,) = raster_of(chart)
    assert (band != 0).all()
    chart = charts.heatmap(shoal.peers(data, sensitive="s", p="0.005"))
    _, (band,) = raster_of(chart)
    assert (band[:, 0] == 0).all()
    assert band[0, -1] == len(PROTECTED)
    assert "0.005" in json.dumps(chart.spec["vconcat"][2], ensure_ascii=False)


def test_one_person_and_few():
    chart = charts.heatmap(shoal.peers({"a": [1], "b": [2]}))
    _, bands = raster_of(chart)
    assert all((band == 0).all() for band in bands)
    assert charts.heatmap(shoal.peers(SMALL)).spec["title"]["text"].endswith("4 of 4 individuals")


def test_persons_with_several_records_are_drawn_once():
    data = {"who": [1, 1, 2, 3], "ward": ["a", "b", "a", "b"], "dx": ["x", "x", "y", "y"]}
    assert charts.heatmap(shoal.peers(data, subject="who")).spec["title"]["text"].endswith("1 of 3 individuals")


def test_the_curve_of_facts_is_the_summary():
    people = shoal.peers(SMALL)
    values = charts.facts(people).spec["layer"][0]["data"]["values"]
    for name, found in people.summary().items():
        curve = {one["known"]: one["share"] for one in values if one["variable"] == name}
        reached = 0
        for known in (1, 2):
            reached += found["breached_by_facts"].get(str(known), 0)
            assert curve[known] == pytest.approx(reached / 4)


ALL = {
    "heatmap": charts.heatmap,
    "poac": lambda people: charts.heatmap(people, measure="poac"),
    "unknown": lambda people: charts.heatmap(people, measure="full", unknown_for="dx"),
    "facts": charts.facts,
    "left-out": lambda people: charts.left_out(people, "dx"),
    "sweep": lambda people: charts.sweep(people.sweep("age", "dx")),
}


@pytest.mark.parametrize("name", ALL)
def test_every_picture_can_be_drawn(tmp_path, name):
    chart = ALL[name](shoal.peers(SMALL))
    for kind, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".pdf", b"%PDF"), (".json", b"{")):
        path = chart.save(tmp_path / f"{name}{kind}")
        assert path.read_bytes().startswith(start)
    assert "http" not in chart.to_svg().replace("http://www.w3.org", "")
    assert chart._repr_mimebundle_()["text/plain"] == chart.spec["title"]["text"]
    assert ALL[name](shoal.peers(SMALL)).to_json() == chart.to_json()


def test_a_sample_is_drawn_as_what_it_is():
    rng = np.random.default_rng(6)
    data = {f"c{place}": rng.integers(0, 2 + place % 2, 6000) for place in range(13)}
    people = shoal.peers(data, sample=300, memory=0)
    assert "a sample of 300" in charts.heatmap(people).spec["title"]["subtitle"][0]
    assert "of 300 individuals" in charts.heatmap(people).spec["title"]["text"]


def test_pictures_are_refused_with_a_reason(tmp_path, monkeypatch):
    chart = charts.heatmap(shoal.peers(SMALL))
    chart.save(tmp_path / "a.json")
    with pytest.raises(WriteError, match="already exists"):
        chart.save(tmp_path / "a.json")
    with pytest.raises(WriteError, match="has no suffix of a chart format"):
        chart.save(tmp_path / "a.gif")
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(WriteError, match=r"shoal\[report\]"):
        chart.save(tmp_path / "a.png")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    with pytest.raises(ModelError, match="There is no heatmap of"):
        charts.heatmap(shoal.peers(SMALL), measure="npp")
    two = shoal.peers({"dx": [1, 2], "sex": [1, 1]})
    for draw in (charts.left_out, lambda people, name: charts.heatmap(people, unknown_for=name)):
        with pytest.raises(ModelError, match="Only one variable is known about"):
            draw(two, "dx")


def test_what_makes_people_unique_is_drawn(tmp_path):
    patients = shoal.demo.hospital(patients=300).patients
    found = shoal.identify(patients, orders=8)
    bars = charts.contributions(found)
    drawn = {one["column"]: one["share"] for one in bars.spec["data"]["values"]}
    assert drawn == found.contribution.shares
    assert len(bars.spec["layer"]) == 2  # bars, and how sure they are
    curve = charts.known_columns(found)
    assert [one["share"] for one in curve.spec["data"]["values"]] == list(found.contribution.by_number)
    graph = charts.linked_columns(found)
    axis = graph.spec["layer"][1]["encoding"]["y"]["axis"]
    assert axis["labelExpr"] == '["height", "weight", "bmi"][datum.value]'
    ends = [one for one in graph.spec["layer"][0]["data"]["values"] if one["place"] in {0, 24}]
    assert [round(one["along"], 9) for one in ends] == [0, 2, 1, 2]  # height and weight, each to bmi
    for number, chart in enumerate((bars, curve, graph)):
        assert chart.save(tmp_path / f"{number}.svg").stat().st_size > 1000
    alone = shoal.identify({"x": [1, 2, 1]}, combinations=False)
    with pytest.raises(ModelError, match="The contributions of column combinations were not"):
        charts.contributions(alone)
    with pytest.raises(ModelError, match="Column combinations were not counted"):
        charts.known_columns(alone)
    assert charts.linked_columns(alone).spec["title"]["text"] == "No column determines another"


def test_the_trade_off_of_a_dimension_is_drawn(tmp_path):
    data = {"age": [31, 34, 71, 78], "sex": ["f", "f", "m", "m"], "zip": ["1", "2", "3", "4"]}
    ladders = {"age": {"kind": "interval", "widths": [10]}}
    found = shoal.dimension(data, quasi=["age", "sex", "zip"], hierarchies=ladders, subsets=True)
    chart = charts.trade_off(found)
    values = chart.spec["data"]["values"]
    assert len(values) == 8
    assert sum(one["best"] for one in values) == 1
    assert [one["place"] for one in values if one["prefix"]] == [0, 1, 2, 3]
    assert chart.save(tmp_path / "t.png").stat().st_size > 1000


def test_classes_below_k_stand_out():
    found = shoal.assess({"age": [31, 31, 34, 71, 71, 71]}, quasi=["age"])
    chart = charts.class_sizes(found, least=3)
    values = chart.spec["layer"][0]["data"]["values"]
    assert [(value["size"], value["persons"], value["small"]) for value in values[:3]] == [
        ("1", 1, True),
        ("2", 2, True),
        ("3–4", 3, False),
    ]
    assert chart.spec["title"]["text"] == "3 of 6 records are in classes smaller than 3"
    assert "smallest class has 1" in charts.class_sizes(found).spec["title"]["text"]
    assert "6 of 6 records" in charts.class_sizes(found, least=4).spec["title"]["text"]
    four = charts.class_sizes(shoal.assess({"age": [*[1] * 3, *[2] * 4]}, quasi=["age"]), least=4)
    bars = [bar for bar in four.spec["layer"][0]["data"]["values"] if bar["size"] == "3–4"]
    assert [(bar["persons"], bar["small"]) for bar in bars] == [(3, True), (4, False)]
    assert chart.to_svg().startswith("<svg")


def test_the_frontier_has_a_line_for_each_limit():
    policy = shoal.Policy.parse('version = 1\ncolumns.age = { role = "quasi" }')
    data = {"age": [31, 31, 34, 34, 71, 71, 72]}
    chart = charts.frontier(shoal.frontier(data, policy, sizes=[2, 7], limits=[0.0, 0.2]))
    values = chart.spec["data"]["values"]
    assert {(value["k"], value["limit"]) for value in values} == {
        (k, limit) for k in (2, 7) for limit in ("0 %", "20 %")
    }
    costs = {(value["k"], value["limit"]): value["cost"] for value in values}
    assert costs[2, "20 %"] < costs[2, "0 %"] <= costs[7, "0 %"]
    assert chart.to_svg().startswith("<svg")
    with pytest.raises(ModelError, match="No scheme meets the requirements"):
        charts.frontier(shoal.frontier(data, policy, sizes=[8], limits=[0.0]))


def test_what_is_learned_from_releases():
    data = {"x": [*range(80)], "z": [0, 1] * 40, "y": ["a"] * 40 + ["b"] * 40}
    blank = {**data, "x": ["*"] * 80}
    found = {
        name: shoal.compare(data, release).learning("y", ["x", "z"], model="linear")
        for name, release in (("as it is", data), ("without x", blank))
    }
    chart = charts.learning(found)
    values = {value["name"][3:]: value for value in chart.spec["data"]["values"]}
    assert values["as it is"]["after"] == values["as it is"]["before"] == 1.0
    assert values["without x"]["after_low"] <= 0.6
    assert "(lowest: without x)" in chart.spec["title"]["text"]
    assert chart.to_svg().startswith("<svg")


def test_the_card_answers_three_questions():
    data = {"age": [*range(40)], "dx": ["flu", "ms"] * 20}
    found = shoal.attack(data, data, quasi=["age"], sensitive=["dx"], in_order=True, attacks=["linkage", "homogeneity"])
    chart = charts.wp216(found)
    assert [value["kind"] for value in chart.spec["data"]["values"]] == ["not assessed", "present", "present"]
    assert chart.to_svg().startswith("<svg")


def test_the_title_of_a_curve_has_the_success_that_is_reported():
    """The last point of a curve over the nearest records looked at is 100 %, whatever the attack achieves."""
    data = {"age": list(range(40)), "sex": ["f", "m"] * 20}
    coarse = {"age": [f"{age // 20 * 20}-{age // 20 * 20 + 19}" for age in data["age"]], "sex": data["sex"]}
    options = {"quasi": ["age", "sex"], "in_order": True, "attacks": ["distance-linkage", "linkage"]}
    for result in shoal.attack(data, coarse, **options).results:
        title = charts.knowledge(result).spec["title"]["text"]
        assert f"success {share(result.success.value)}," in title
        assert result.success.value < 0.5


def test_survival_before_and_after():
    data = {"days": [1, 2, 3, 4, 5, 6], "died": [1, 0, 1, 1, 0, 1], "sex": list("ffffmm")}
    release = {**data, "days": ["1-2", "1-2", "3", "4", "*", "*"]}
    found = shoal.compare(data, release).survival("days", "died", "sex")
    chart = charts.survival(found)
    values = chart.spec["data"]["values"]
    assert {(value["group"], value["when"]) for value in values} == {("f", "before"), ("f", "after"), ("m", "before")}
    assert values[0] == {"group": "f", "when": "before", "time": 0.0, "share": 1.0, "low": 1.0, "high": 1.0}
    assert "Of 1 group the release has no individual" in chart.spec["title"]["subtitle"]
    assert chart.to_svg().startswith("<svg")
    with pytest.raises(RecodingError, match="There is no survival curve to draw"):
        charts.survival([])


POLICY = shoal.Policy.parse("""
version = 1
columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 30] } }
columns.sex = "quasi"
columns.dx = "sensitive"
require = [{ model = "k-anonymity", k = 2 }]
search = { suppression = 0.2 }
""")


@given(
    sizes=st.dictionaries(st.integers(1, 300), st.integers(1, 5), min_size=1, max_size=8),
    limit=st.fractions(Fraction(1, 60), 1, max_denominator=60),
)
def test_every_bar_of_risks_is_above_the_threshold_or_not(sizes, limit):
    """Each person is in the bar whose ends hold the risk, counted in fractions."""
    data = {"x": [f"{size} {copy}" for size, copies in sizes.items() for copy in range(copies) for _ in range(size)]}
    found = shoal.assess(data, quasi="x")
    bars = charts.risks({"it": found}, limit).spec["data"]["values"]
    assert sum(bar["persons"] for bar in bars) == found.persons
    above = sum(bar["persons"] for bar in bars if bar["above"])
    assert above == sum(size * copies for size, copies in sizes.items() if Fraction(1, size) > limit)
    for size in sizes:
        inside = [bar for bar in bars if bar["low"] * (1 - 1e-9) < 1 / size <= bar["high"] * (1 + 1e-9)]
        assert inside


def test_small_numbers_are_drawn_together_with_others():
    data = {
        "x": [
            f"{size} {copy}"
            for size, copies in ((1, 4), (2, 20), (30, 2), (70, 1))
            for copy in range(copies)
            for _ in range(size)
        ]
    }
    found = shoal.assess(data, quasi="x")
    bars = charts.risks({"it": found}, Fraction(1, 11), least=11).spec["data"]["values"]
    assert [(bar["told"], bar["above"]) for bar in bars] == [("70", False), ("60", False), ("44", True)]
    assert sum(bar["persons"] for bar in bars) == found.persons
    few = shoal.assess({"x": [1] * 30 + [2] * 3}, quasi="x")
    spec = charts.risks({"it": few}, Fraction(1, 11), least=11).spec
    assert spec["title"]["text"] == "it: fewer than 11 of 33 records have a risk above 1 in 11"
    assert not re.search(r'"persons": 3\b', json.dumps(spec))
    for wrong in (({}, 0.1), ({"it": few}, 0), ({"it": few}, 2)):
        with pytest.raises(ModelError, match="A chart of risks requires a table, and a threshold"):
            charts.risks(*wrong)


def test_a_ladder_is_as_wide_as_its_records():
    table = shoal.read({"age": [31] * 60 + [34] * 30 + [71] * 9 + [99], "none": [None] * 100})
    held = bind_all({"age": {"kind": "interval", "widths": [10]}, "none": {"kind": "suppression"}}, table)
    counts = np.bincount(table.codes("age"), minlength=table["age"].size)
    values = charts.ladder(held["age"], counts, level=1).spec["data"]["values"]
    widths = {(one["level"], one["label"]): round(one["end"] - one["begin"], 9) for one in values}
    assert widths["0", "31"] == 0.6
    assert widths["1", "30-39"] == 0.9
    assert widths["2", "*"] == 1
    assert "99" not in {one["label"] for one in values}  # one record: not named
    assert {one["level"] for one in values if one["chosen"]} == {"1"}
    assert charts.ladder(held["none"], np.array([100])).to_svg().startswith("<svg")
    assert charts.ladder(held["age"], np.zeros(4, int)).to_svg().startswith("<svg")


def test_a_ladder_of_many_values_stays_small():
    table = shoal.read({"x": [f"v{place}" for place in range(20_000)]})
    held = bind_all({"x": {"kind": "suppression"}}, table)["x"]
    assert len(charts.ladder(held, np.ones(20_000, int)).spec["data"]["values"]) < 10


def test_the_lattice_shows_every_scheme_or_those_that_matter():
    data = {"age": [31, 34, 38, 71, 75], "sex": list("ffmmm"), "dx": list("abcde")}
    found = shoal.schemes(data, POLICY)
    values = charts.lattice(found).spec["data"]["values"]
    assert len(values) == len(found) == 8
    assert [one["scheme"] for one in values if one["best"]] == [" ".join(map(str, found.levels[found.best]))]
    assert sum(one["meets"] for one in values) == int(found.meets.sum())
    wide = shoal.Policy.parse(
        "version = 1\nrequire = [{ model = 'k-anonymity', k = 2 }]\n"
        + "".join(f"columns.c{place} = {{ role = 'quasi', hierarchy = {{ kind = 'prefix', keep = [2, 1] }} }}\n"
                  for place in range(6))
    )  # fmt: skip
    rng = np.random.default_rng(0)
    many = shoal.schemes({f"c{place}": rng.integers(100, 999, 50).astype(str) for place in range(6)}, wide)
    spec = charts.lattice(many).spec
    assert len(many) > 600 > len(spec["data"]["values"])
    assert any(one["best"] for one in spec["data"]["values"])
    assert "are shown" in spec["title"]["subtitle"][-1]
    hopeless = shoal.schemes({"age": [1], "sex": ["f"], "dx": ["a"]}, POLICY)
    assert charts.lattice(hopeless).spec["title"]["text"] == "None of 8 schemes meets the requirements"
    strict = wide.requiring([*shoal.Policy.parse("version = 1\nrequire = [{ model = 'k-anonymity', k = 51 }]").require])
    none = shoal.schemes({f"c{place}": rng.integers(100, 999, 50).astype(str) for place in range(6)}, strict)
    assert none.best is None
    assert 0 < len(charts.lattice(none).spec["data"]["values"]) <= 300


def test_correlations_are_those_that_were_measured():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 50, 300)
    before = {"x": x, "y": x + rng.integers(0, 9, 300), "z": rng.choice(["a", "b"], 300)}
    after = {**before, "y": [f"{value // 30 * 30}-{value // 30 * 30 + 29}" for value in before["y"]]}
    found = shoal.compare(before, after)
    values = charts.correlations(found.recoding).spec["data"]["values"]
    apart = [abs(one["before"] - one["after"]) for one in values]
    assert np.mean(apart) == pytest.approx(found.quality["correlations"].total.value)
    with pytest.raises(RecodingError, match="Fewer than two columns vary, so there is no"):
        charts.correlations(shoal.compare({"x": [1, 2]}, {"x": [1, 2]}).recoding)


def test_a_picture_is_the_same_whenever_it_is_drawn():
    rng = np.random.default_rng(0)
    data = {"x": rng.integers(0, 50, 30), "y": rng.integers(0, 50, 30)}
    chart = charts.correlations(shoal.compare(data, data).recoding)
    first = chart.to_svg()
    charts.class_sizes(shoal.assess(data, quasi="x")).to_svg()
    assert chart.to_svg() == first
    drawn = set(re.findall(r"url\(#([^)]+)\)", first))
    assert drawn
    assert drawn <= set(re.findall(r'id="([^"]+)"', first))


def test_only_columns_that_determine_others_are_counted():
    wards = [f"w{number % 12}" for number in range(120)]
    clinics = [f"c{number % 12 // 3}" for number in range(120)]
    identified = shoal.identify({"ward": wards, "clinic": clinics})
    assert [(link.columns, link.told) for link in identified.links] == [(("ward",), "clinic")]
    assert charts.linked_columns(identified).spec["title"]["text"] == "1 column determines others"
