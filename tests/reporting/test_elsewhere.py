"""Reports about tables that somebody else has made: judged against the original, in persons, or not at all."""

import numpy as np
import pytest

import shoal

POLICY = """
version = 1
{data}
[columns]
name = "direct"
age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 30] }} }}
town = "quasi"
dx = "sensitive"
lab = "insensitive"
{require}
{more}
"""
K = '[[require]]\nmodel = "k-anonymity"\nk = 5\n'


def policy(require=K, data="", more=""):
    return shoal.Policy.parse(POLICY.format(require=require, data=data, more=more))


def people(number=300, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "name": [f"n{place}" for place in range(number)],
        "age": rng.integers(20, 80, number).tolist(),
        "town": rng.choice(["north", "south"], number).tolist(),
        "dx": rng.choice(["flu", "gout", "ms"], number).tolist(),
        "lab": rng.normal(100, 15, number).round(3).tolist(),
    }


@pytest.fixture(scope="module")
def released():
    """Return a good release as plain columns, in the order of a file."""
    return shoal.anonymize(people(), policy(more="[search]\nsuppression = 0")).to_frame("pyarrow").to_pydict()


def first(report):
    return report.sections[0].blocks[0]


def test_a_release_that_names_persons_is_bad_whatever_else(released):
    for external in (False, True):
        named = {**released, "name": ["n7"] * len(released["age"])}
        report = shoal.report(people(), named, policy=policy(), external=external)
        assert not report.findings.met
        assert first(report).tone == "bad"
        assert "direct identifiers (name)" in first(report).text
        assert "n7" not in report.to_markdown()
    for names in (["SMITH"] * len(released["age"]), [f"x{place}" for place in range(len(released["age"]))]):
        assert not shoal.report(people(), {**released, "name": names}, policy=policy()).findings.met
    gone = {**released, "name": ["*"] * len(released["age"])}
    assert shoal.report(people(), gone, policy=policy()).findings.met


def test_new_pseudonyms_of_persons_are_no_names():
    data = people(100)
    twice = {name: [value for value in held for _ in range(2)] for name, held in data.items()}
    twice["who"] = [place for place in range(100) for _ in range(2)]
    asked = policy('[[require]]\nmodel = "k-anonymity"\nk = 3\n', 'data.subject = "who"', "[search]\nsuppression = 0.9")
    release = shoal.anonymize(twice, asked)
    theirs = release.to_frame("pyarrow").to_pydict()
    theirs["who"] = [f"z{twice['who'][record]}" for record in release.records]
    found = shoal.report(twice, theirs, policy=asked).findings
    assert found.met
    assert found.after.k == release.requirements[0].verdict.value["k"]
    assert found.after.counts_persons
    bare = {**theirs, "who": [twice["who"][record] for record in release.records]}
    assert not shoal.report(twice, bare, policy=asked).findings.met


def test_what_cannot_be_judged_is_not_called_met(tmp_path, released):
    shoal.write(shoal.read({name: people()[name] for name in ("age", "town")}), tmp_path / "register.csv")
    (tmp_path / "policy.toml").write_text(
        POLICY.format(
            require=K + '[[require]]\nmodel = "k-map"\nk = 50\n', data="", more='[population]\nfile = "register.csv"\n'
        ),
        encoding="utf-8",
    )
    report = shoal.report(people(), released, policy=tmp_path / "policy.toml")
    assert [one.holds for one in report.findings.requirements] == [True, False]
    assert not report.findings.met
    assert "1 could not be assessed (k-map)" in first(report).text


def test_closeness_is_measured_against_the_original():
    data = {"name": list(range(400)), "age": [30] * 200 + [60] * 200, "town": ["a"] * 400,
            "dx": ["x"] * 200 + ["y"] * 200, "lab": [1.0] * 400}  # fmt: skip
    asked = policy('[[require]]\nmodel = "t-closeness"\ncolumn = "dx"\nt = 0.2\n')
    half = {name: held[:200] for name, held in data.items() if name != "name"}
    report = shoal.report(data, half, policy=asked)
    (one,) = report.findings.requirements
    assert float(one.after.value["t"]) == 0.5
    assert not one.after.satisfied
    rows = next(block for section in report.sections if section.anchor == "risk" for block in section.blocks
                if getattr(block, "anchor", "") == "attributes").blocks[0].rows  # fmt: skip
    assert rows[0][:2] == ("dx", "50%")  # without the data, as in the original


def test_persons_are_counted_or_nothing_is_judged():
    data = people(100)
    thrice = {name: [value for value in held for _ in range(3)] for name, held in data.items()}
    thrice["who"] = [place for place in range(100) for _ in range(3)]
    asked = policy('[[require]]\nmodel = "k-anonymity"\nk = 3\n', 'data.subject = "who"')
    plain = {name: held for name, held in thrice.items() if name not in {"who", "name"}}
    report = shoal.report(thrice, plain, policy=asked)
    assert report.findings.after.k == 1  # in the order of the original it is known whose they are
    assert not report.findings.met
    assert report.findings.left_out == 0
    rng = np.random.default_rng(1)
    some = rng.permutation(300)[:200]
    noisy = {name: [held[place] for place in some] for name, held in plain.items()}
    noisy["lab"] = rng.normal(0, 1, 200).tolist()
    report = shoal.report(thrice, noisy, policy=asked)
    assert [one.why for one in report.findings.requirements] == ["records cannot be assigned to individuals"]
    assert not report.findings.met


def test_our_own_release_read_back_is_matched_by_what_it_shows(tmp_path):
    release = shoal.anonymize(people(), policy(more="[search]\nsuppression = 0.02"))
    *_, origins = release.save(tmp_path / "r.csv")
    kept = shoal.report(people(), tmp_path / "r.csv", policy=policy())
    assert kept.findings.comparison.matched == "by the record mapping that anonymize saved"
    origins.unlink()
    native, back = shoal.report(release.given, release), shoal.report(people(), tmp_path / "r.csv", policy=policy())
    assert back.findings.comparison.matched == "by content"
    for name in ("loss", "granularity", "changed-cells"):
        one, two = (found.findings.comparison.quality[name].total for found in (native, back))
        assert one.cost == pytest.approx(two.cost)
    assert back.findings.left_out == native.findings.left_out
    shuffled = {name: held[::-1] for name, held in release.to_frame("pyarrow").to_pydict().items()}
    again = shoal.report(people(), shuffled, policy=policy())
    assert again.findings.comparison.quality["changed-cells"].total.cost == 0


def test_a_key_tells_which_record_is_which():
    data = people(60)
    data["row"] = list(range(60))
    asked = shoal.Policy.parse(
        POLICY.format(require=K, data="", more="").replace("[columns]", '[columns]\nrow = "insensitive"')
    )
    moved = {name: [held[place] for place in range(59, -1, -1)] for name, held in data.items() if name != "name"}
    report = shoal.report(data, moved, policy=asked, key="row")
    assert report.findings.comparison.matched == "by 'row'"
    assert report.findings.comparison.quality["changed-cells"].total.cost == 0


def test_what_was_done_elsewhere_is_not_made_up(released):
    changed = {**released, "lab": [0.0] * len(released["lab"])}
    report = shoal.report(people(), changed, policy=policy())
    done = next(section for section in report.sections if section.anchor == "variables").blocks[1].rows
    said = {row[0]: row[2] for row in done}
    assert said["lab"] == "changed; the technique is not recorded"
    assert said["name"] == "removed"


def test_stars_mean_suppressed(tmp_path, released):
    """One record that shows nothing forms no class; on the command line, too."""
    from tests.command_line import run

    starred = {**released, "age": ["*", *released["age"][1:]], "town": ["*", *released["town"][1:]]}
    shoal.write(shoal.read({name: list(map(str, held)) for name, held in starred.items()}), tmp_path / "r.csv")
    shoal.write(shoal.read(people()), tmp_path / "d.csv")
    (tmp_path / "p.toml").write_text(POLICY.format(require=K, data="", more=""), encoding="utf-8")
    report = shoal.report(tmp_path / "d.csv", tmp_path / "r.csv", policy=tmp_path / "p.toml")
    done = run("report", "d.csv", "r.csv", "-p", "p.toml", "-o", "o.json", "--no-attacks", cwd=tmp_path)
    assert report.findings.met
    assert done.returncode == 0


def test_where_nothing_sensitive_is_released_there_is_nothing_to_protect(released):
    asked = policy(K + '[[require]]\nmodel = "l-diversity"\ncolumn = "dx"\nl = 3\n')
    without = {name: held for name, held in released.items() if name != "dx"}
    report = shoal.report(people(), without, policy=asked)
    assert [one.moot for one in report.findings.requirements] == [False, True]
    assert report.findings.met
    starred = {**released, "dx": ["*"] * len(released["dx"])}
    assert shoal.report(people(), starred, policy=asked).findings.met
    strange = {**released, "dx": ["new"] * len(released["dx"])}
    report = shoal.report(people(), strange, policy=asked)
    assert not report.findings.met
    assert "could not be assessed (l-diversity of dx)" in first(report).text


def test_the_population_is_that_of_the_original(released):
    asked = policy(more="[population]\nfraction = 0.1")
    few = {name: held[:30] for name, held in released.items()}
    found = shoal.report(people(), few, policy=asked).findings
    assert found.after.journalist.basis == "estimated"
    exact = shoal.assess(found.seen, population=3000)
    assert found.after.journalist.maximum == pytest.approx(exact.journalist.maximum)


def test_results_about_another_table_are_refused(released):
    release = shoal.anonymize(people(), policy())
    other = shoal.anonymize(people(200), policy())
    tried = shoal.attack(other.given, other, attacks=["linkage"])
    for given, says in (
        ({"attacks": tried}, "another table"),
        ({"people": shoal.peers(people(200))}, "another table"),
        ({"people": 1}, "The argument people is not a result of shoal"),
        ({"frontier": "x"}, "The argument frontier is not a result of shoal"),
        ({"schemes": 3}, "The argument schemes is not a result of shoal"),
        ({"analyses": [1]}, "not a result of shoal"),
        ({"policy": policy()}, "contains its policy"),
    ):
        with pytest.raises(shoal.errors.ReportError, match=says):
            shoal.report(release.given, release, **given)


def test_columns_that_nobody_has_spoken_about_are_not_waved_through(released):
    report = shoal.report(people(), {**released, "exact_age": list(range(len(released["age"])))}, policy=policy())
    assert not report.findings.met
    assert "does not describe (exact_age)" in first(report).text


def test_values_are_not_listed_where_all_records_may_be_of_one_person():
    data = people(100)
    data["who"] = [0] * 60 + list(range(40))
    data["lab"] = ["canarylab"] * 60 + ["b"] * 40
    asked = policy('[[require]]\nmodel = "k-anonymity"\nk = 3\n', 'data.subject = "who"')
    rng = np.random.default_rng(0)
    some = {
        name: [held[place] for place in rng.permutation(100)[:90]]
        for name, held in data.items()
        if name in {"age", "town", "lab"}
    }
    report = shoal.report(data, some, policy=asked, external=True)
    assert "canarylab" not in report.to_json()


def test_a_sensitive_column_of_which_nothing_is_shown_is_not_released(released):
    found = shoal.report(people(), {**released, "dx": ["*"] * len(released["dx"])}, policy=policy()).findings
    assert found.after.attributes == ()


def test_a_release_is_recognised_by_what_its_owner_has(tmp_path):
    """Read again from its file, it is no table of a stranger, unless the policy is another one."""
    shoal.write(shoal.read(people()), tmp_path / "data.csv")
    release = shoal.anonymize(tmp_path / "data.csv", policy())
    release.save(tmp_path / "release.csv")
    report = shoal.report(tmp_path / "data.csv", tmp_path / "release.csv", policy=policy())
    assert report.findings.ours
    assert "not recorded" not in report.external().to_markdown()
    published = policy(more="[publish]\nrisk = true")  # changes no released file
    assert shoal.report(tmp_path / "data.csv", tmp_path / "release.csv", policy=published).findings.ours
    fewer = {name: cells[:-1] for name, cells in people().items()}
    assert not shoal.report(fewer, tmp_path / "release.csv", policy=policy()).findings.ours
    changed = policy(more="[context]\npublic = true")
    other = shoal.report(tmp_path / "data.csv", tmp_path / "release.csv", policy=changed)
    assert not other.findings.ours
    assert "There is no record that this release was made from these data" in other.to_markdown()


def test_a_register_that_cannot_be_compared_any_more_is_named(tmp_path):
    shoal.write(shoal.read({"age": [31, 31, 71, 71] * 3}), tmp_path / "register.csv")
    told = shoal.Policy.parse("""
        version = 1
        columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
        require = [{ model = "k-map", k = 2 }]
        population.file = "register.csv"
    """).within(tmp_path)
    report = shoal.report({"age": [31, 71]}, {"age": ["30-39", "70-79"]}, policy=told)
    (asked,) = report.findings.requirements
    assert not asked.holds
    data = {"age": [31, 31, 71, 71]}
    shoal.write(shoal.read(data), tmp_path / "data.csv")
    release = shoal.anonymize(tmp_path / "data.csv", told)
    release.save(tmp_path / "release.csv")
    own = shoal.report(tmp_path / "data.csv", tmp_path / "release.csv", policy=told)
    assert own.findings.met  # verified when it was made
    assert own.findings.requirements[0].after.attained == release.requirements[0].verdict.attained == "k = 6"
    assert asked.why == "a release can be compared with a register only when it is made"


@pytest.mark.parametrize("context", ["public = true", "deliberate = 0.5"])
def test_the_overall_risk_does_not_reveal_a_small_class(context, tmp_path):
    """The summary says "above 1 in 11"; the product with the probability of an attempt must not say 1 in 3."""
    ages = [30] * 3 + [40] * 40 + [50] * 40
    data = {"name": [f"n{place}" for place in range(83)], "age": ages, "town": ["north"] * 83}
    data |= {"dx": (["flu", "gout"] * 42)[:83], "lab": [*range(83)]}
    release = {name: values for name, values in data.items() if name != "name"}
    asked = policy(K.replace("5", "11"), more=f"[context]\n{context}")
    text = shoal.report(data, release, policy=asked, in_order=True, external=True).save(tmp_path / "a.md").read_text()
    assert "above 1 in 11" in text
    assert "Overall risk: not published" in text
    assert "1 in 3" not in text
    owner = shoal.report(data, release, policy=asked, in_order=True).save(tmp_path / "b.md").read_text()
    assert "Overall risk: 1 in" in owner


def test_the_overall_risk_is_published_where_the_highest_risk_is(tmp_path):
    """1/11 as a float is above 1/11 as a fraction: the same rounding decides in the summary and in the context."""
    data = {"name": [f"n{place}" for place in range(22)], "age": [30] * 11 + [40] * 11, "town": ["north"] * 22}
    data |= {"dx": ["flu", "gout"] * 11, "lab": [*range(22)]}
    release = {name: values for name, values in data.items() if name != "name"}
    asked = policy(K.replace("5", "11"), more="[context]\npublic = true")
    text = shoal.report(data, release, policy=asked, in_order=True, external=True).save(tmp_path / "a.md").read_text()
    assert "Overall risk: 1 in 11" in text
    assert "not published, because" not in text
