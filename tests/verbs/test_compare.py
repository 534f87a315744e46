"""``shoal.compare`` and ``shoal compare``: the whole of it, on made-up releases."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import charts
from shoal.errors import RecodingError
from shoal.kernels import library
from tests.command_line import run

BEFORE = "id,age,sex,dx\n" + "".join(
    f"{place},{20 + place % 40},{'fm'[place % 2]},{['flu', 'ms', 'gout'][place % 3]}\n" for place in range(120)
)


def recoded(width, lost=()):
    rows = []
    for place in range(120):
        if place in lost:
            continue
        low = (20 + place % 40) // width * width
        rows.append(f'{place},"[{low}, {low + width}[",{"fm"[place % 2]},{["flu", "ms", "gout"][place % 3]}')
    return "id,age,sex,dx\n" + "\n".join(rows) + "\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "before.csv").write_text(BEFORE)
    (tmp_path / "fine.csv").write_text(recoded(5))
    (tmp_path / "coarse.csv").write_text(recoded(20, lost=range(10)))
    (tmp_path / "policy.toml").write_text(
        'version = 1\n[columns]\nage = { role = "quasi", hierarchy = { kind = "interval", widths = [5, 20] } }\n'
        'sex = "quasi"\ndx = "sensitive"\nid = "direct"\n'
    )
    return tmp_path


def test_one_release(folder):
    done = run("compare", "before.csv", "fine.csv", "--quasi", "age,sex", "--sensitive", "dx", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "granularity" in done.stdout
    assert "k-anonymity" in done.stdout
    assert "matched" in done.stderr
    assert "matched" not in done.stdout


def test_as_json(folder):
    done = run("compare", "before.csv", "fine.csv", "--quasi", "age,sex", "--sensitive", "dx", "--json", cwd=folder)
    document = json.loads(done.stdout)
    assert document["command"] == "compare"
    result = document["result"]
    found = shoal.compare(folder / "before.csv", folder / "fine.csv", quasi=["age", "sex"], sensitive=["dx"])
    assert result["quality"] == {name: held.total and held.total.value for name, held in found.quality.items()}
    assert result["privacy"]["k-anonymity"] == {"before": 3, "after": 6}
    assert result["columns"]["age"] == {"kept": 0, "coarser": 120, "suppressed": 0, "changed": 0}
    assert result["measures"]["nue"]["better"] == "less"


def test_several_releases_side_by_side(folder):
    options = ["compare", "before.csv", "fine.csv", "coarse.csv", "--policy", "policy.toml"]
    done = run(*options, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "fine" in done.stdout
    assert "coarse" in done.stdout
    releases = json.loads(run(*options, "--json", cwd=folder).stdout)["result"]["releases"]
    assert [one["release"] for one in releases] == ["fine.csv", "coarse.csv"]
    assert "matched" in done.stderr
    fine, coarse = (one["cost"] for one in releases)
    assert all(fine[name] < coarse[name] for name in ("loss", "nue", "precision", "suppressed-records"))


def test_analyses(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        (place, 20 + place % 40, "fm"[place % 2], int(days), int(died))
        for place, (days, died) in enumerate(zip(rng.integers(1, 500, 200), rng.integers(0, 2, 200), strict=True))
    ]
    head = "id,age,sex,days,died\n"
    (tmp_path / "a.csv").write_text(head + "".join(",".join(map(str, row)) + "\n" for row in rows))
    cut = [(i, f"{age // 10}0-{age // 10}9", *rest) for i, age, *rest in rows if i % 9]
    (tmp_path / "b.csv").write_text(head + "".join(",".join(map(str, row)) + "\n" for row in cut))
    asked = (
        "compare a.csv b.csv --quasi age,sex --learn died --on age,sex --outcome died --time days --event died "
        "--by sex --subgroups sex,age --model linear"
    ).split()
    done = run(*asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in (
        "Prediction of died",
        "Odds ratios for died",
        "Hazard ratios for died",
        "Survival",
        "Suppression by subgroup",
    ):
        assert words in done.stdout
    found = json.loads(run(*asked, "--json", cwd=tmp_path).stdout)["result"]["analyses"]
    assert found["learning"]["records"] == 200
    assert {one["kind"] for one in found["regressions"]} == {"logistic", "cox"}
    assert {one["group"] for one in found["survival"]} == {"f", "m"}
    assert sum(one["records"] for one in found["subgroups"] if one["column"] == "age") == 200


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--quasi", "agee"], "Did you mean 'age'?"),
        (["--qualities", "los"], "Did you mean 'loss'?"),
        (["--outcome", "sex"], "--on age,sex"),
        (["--time", "age"], "--event died"),
        (["--learn", "dx", "--model", "magic"], "boosting, forest, linear"),
        (["--key", "nobody"], "no column 'nobody'"),
        (["--by", "sex"], "--time and --event"),
        (["--on", "age"], "--learn, --outcome"),
        (["--target", "nothing"], "no column 'nothing'"),
    ],
)
def test_wrong_options(folder, options, says):
    done = run("compare", "before.csv", "fine.csv", *options, cwd=folder)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_pictures(folder):
    done = run(
        "compare", "before.csv", "fine.csv", "coarse.csv", "--policy", "policy.toml", "--pictures", "out", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    names = {path.name for path in (folder / "out").iterdir()}
    assert names == {"costs.svg", *(f"{r}-{c}.svg" for r in ("fine", "coarse") for c in ("age", "sex", "dx"))}
    again = run("compare", "before.csv", "fine.csv", "--policy", "policy.toml", "--pictures", "out", cwd=folder)
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_a_policy_gives_roles_and_hierarchies(folder):
    found = shoal.compare(folder / "before.csv", folder / "fine.csv", folder / "policy.toml")
    assert found.quasi == ("age", "sex")
    assert found.quality["height"].columns["age"].value == 1
    assert "id" not in found.columns  # a direct identifier is not compared


def test_the_other_engine_says_the_same(folder):
    for name, text in (("before", BEFORE), ("coarse", recoded(20, lost=range(10)))):
        table = shoal.read(folder / f"{name}.csv")
        assert table.records == text.count("\n") - 1
        pq.write_table(pa.table(table.to_arrow()), folder / f"{name}.parquet")
    one, two = (
        shoal.compare(
            *(shoal.read(folder / f"{name}.parquet", engine=engine) for name in ("before", "coarse")),
            quasi=["age", "sex"],
            target="dx",
        )
        for engine in ("memory", "duckdb")
    )
    assert {name: held.total for name, held in one.quality.items()} == {
        name: held.total for name, held in two.quality.items()
    }


def test_both_kernels_say_the_same(folder):
    found = []
    for kind in ("c", "numpy"):
        with library.using(kind):
            found.append(shoal.compare(folder / "before.csv", folder / "coarse.csv", quasi=["age", "sex"], target="dx"))
    one, two = ({name: held.total for name, held in made.quality.items()} for made in found)
    assert one == two
    assert found[0].suppressed == 10


# --- pictures as data ---------------------------------------------------------------------------------------------


def test_before_and_after_add_up(folder):
    found = shoal.compare(folder / "before.csv", folder / "coarse.csv", quasi=["age", "sex"])
    for name in ("age", "sex"):
        values = charts.before_after(found.recoding[name]).spec["data"]["values"]
        assert sum(one["before"] for one in values) == pytest.approx(1)
        assert sum(one["after"] for one in values) == pytest.approx(1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"x": [1, 1]}, {"x": [1, 1]}),
        ({"x": ["a"]}, {"x": ["*"]}),
        ({"x": [None, 1.5]}, {"x": [None, "*"]}),
        ({"x": [None, None], "y": [1, 2]}, {"x": [None, None], "y": [1, 2]}),
        ({"x": [f"v{n}" for n in range(100)], "y": [1] * 100}, {"x": ["*"] * 100, "y": [1] * 100}),
    ],
)
def test_pictures_of_odd_columns(before, after, tmp_path):
    found = shoal.compare(before, after)
    chart = charts.before_after(found.recoding["x"])
    assert chart.save(tmp_path / "x.svg").stat().st_size > 1000
    assert len(chart.spec["data"]["values"]) <= 25


def test_costs(folder):
    found = {
        name: shoal.compare(folder / "before.csv", folder / f"{name}.csv", quasi=["age", "sex"]).quality
        for name in ("fine", "coarse")
    }
    values = charts.costs(found).spec["data"]["values"]
    assert {(one["release"], one["measure"]) for one in values} == {
        (name, measure) for name, held in found.items() for measure, one in held.items() if one.total
    }


def test_notes_hold_no_values(tmp_path):
    """A released identifier that is not what it was is counted, never shown."""
    (tmp_path / "a.csv").write_text("id,x\n" + "".join(f"patient{n},{n % 7}\n" for n in range(50)))
    (tmp_path / "b.csv").write_text("id,x\n" + "".join(f"patient{n * 7 % 50},{n % 7}\n" for n in range(50)))
    done = run("compare", "a.csv", "b.csv", "--quasi", "id,x", "--pictures", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "patient" not in done.stderr + done.stdout
    assert "patient" not in (tmp_path / "out" / "b-id.svg").read_text()


def test_texts_that_could_not_be_read_are_listed(tmp_path):
    (tmp_path / "a.csv").write_text("x\n" + "".join(f"{n % 9}\n" for n in range(90)))
    (tmp_path / "b.csv").write_text("x\n" + "".join(f"{'low' if n % 9 < 4 else 'high'}\n" for n in range(90)))
    done = run("compare", "a.csv", "b.csv", cwd=tmp_path)
    assert "(2 texts; --json lists them)" in done.stderr
    assert "'high'" not in done.stderr  # what a cell shows is no matter of notes
    told = json.loads(run("compare", "a.csv", "b.csv", "--json", cwd=tmp_path).stdout)["result"]["remarks"]
    assert ["high", "low"] in [sorted(one["texts"]) for one in told]


def test_markup_in_data_is_no_markup(tmp_path):
    (tmp_path / "a.csv").write_text("[/red],y\n" + "".join(f"[/b]{n % 2},{n % 5}\n" for n in range(60)))
    done = run("compare", "a.csv", "a.csv", "--subgroups", "[/red]", "--outcome", "y", "--on", "[/red]", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[/b]1" in done.stdout


def test_columns_that_come_and_go_are_told():
    before = {"age": [1, 2], "sex": ["f", "m"], "lab": [1, 2]}
    found = shoal.compare(before, {"age": [1, 2], "gender": ["f", "m"], "secret": [1, 2]}, quasi=["age", "sex"])
    notes = " ".join(found.notes)
    assert "'gender', 'secret'" in notes
    assert "counted as suppressed: 'sex'" in notes
    assert "not included in the information loss: 'lab'" in notes


def test_stars_in_the_original_are_suppressed_there_too(tmp_path):
    (tmp_path / "a.csv").write_text("age\n31\n*\n45\n47\n")
    (tmp_path / "b.csv").write_text("age\n30-39\n*\n40-49\n40-49\n")
    (tmp_path / "p.toml").write_text('version = 1\ncolumns.age = "quasi"\n')
    plain = shoal.compare(tmp_path / "a.csv", tmp_path / "b.csv").columns["age"]
    assert (plain.kept, plain.coarser) == (1, 3)
    done = run("compare", "a.csv", "b.csv", "--policy", "p.toml", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["result"]["columns"]["age"]["coarser"] == 3


def test_two_releases_of_one_name(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "r.csv").write_text("x\n1\n2\n")
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    done = run("compare", "a.csv", "one/r.csv", "two/r.csv", "--pictures", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"costs.svg", "one_r-x.svg", "two_r-x.svg"}


def test_the_policy_says_how_missing_values_match(tmp_path):
    (tmp_path / "p.toml").write_text('version = 1\ndata.missing = "never"\ncolumns.x = "quasi"\n')
    table = {"x": ["a", "a", None, None]}
    assert shoal.compare(shoal.read(table), table, tmp_path / "p.toml").after["k-anonymity"] == 1
    assert shoal.compare(table, table).after["k-anonymity"] == 2


def test_one_quality_by_name():
    assert list(shoal.compare({"x": ["a"]}, {"x": ["a"]}, qualities="loss").quality) == ["loss"]


def test_more_records_than_there_were(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n2\n3\n")
    (tmp_path / "b.csv").write_text("x\n1\n2\n3\n1\n*\n")
    done = run("compare", "a.csv", "b.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "What became of the cells" not in done.stdout


def test_what_anonymize_returned_can_be_compared():
    """It is in another order and lacks the subject, yet it is known which record is which."""
    data = {"id": [f"p{i}" for i in range(40)], "age": [*range(40, 0, -1)], "dx": ["flu", "ms"] * 20}
    policy = shoal.Policy.parse(
        """
        version = 1
        data.subject = "id"
        columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
        columns.dx = "sensitive"
        require = [{ model = "k-anonymity", k = 5 }]
        search.recoding = "mondrian"
        """
    )
    table = shoal.read(data)
    release = shoal.anonymize(table, policy)
    assert release.table.records == 40
    found = shoal.compare(table, release)
    assert found.matched == "by the record mapping that anonymize saved"
    assert found.columns["dx"].kept == 40
    assert found.columns["age"].changed == 0
    assert found.quality["loss"].total.cost == pytest.approx(release.quality["loss"].total.cost)
    other = shoal.read({name: cells[:10] for name, cells in data.items()})
    assert "recorded" not in str(shoal.compare(other, release).matched)


def test_a_key_of_pseudonyms_is_refused():
    data = {"id": [1, 2, 3], "x": list("abc")}
    with pytest.raises(RecodingError, match="No released record has a key") as refused:
        shoal.compare(data, {"id": [71, 72, 73], "x": list("abc")}, key="id")
    assert "pseudonyms" in refused.value.hint


def test_a_sample_that_is_not_known_is_noted(tmp_path):
    data = tmp_path / "data.csv"
    shoal.write(shoal.read({"age": list(range(30, 40)) * 20, "sex": ["f", "m"] * 100}), data)
    policy = shoal.Policy.parse("""
        version = 1
        columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [5] } }
        columns.sex = "quasi"
        require = [{ model = "k-anonymity", k = 2 }]
        search.sample = 0.5
    """)
    release = shoal.anonymize(data, policy)
    release.save(tmp_path / "release.csv")
    (tmp_path / "moved.csv").write_bytes((tmp_path / "release.csv").read_bytes())
    here, moved = (shoal.compare(data, tmp_path / name, policy) for name in ("release.csv", "moved.csv"))
    assert not any("sample of 0.5" in note for note in here.notes)
    assert any("sample of 0.5" in note for note in moved.notes)


def test_a_key_and_a_position_are_not_given_together():
    data = {"id": [1, 2], "x": list("ab")}
    with pytest.raises(RecodingError, match="not by both"):
        shoal.compare(data, data, key="id", in_order=True)
