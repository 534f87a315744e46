"""Samples, pseudonyms and linked columns in a release."""

import json
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import PolicyError, ShoalError

KEY = "a key that is long enough"
POLICY = """
version = 1
data.subject = "id"
columns.name = "direct"
columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10, 20] } }
columns.sex = "quasi"
columns.dx = "sensitive"
require = [{ model = "k-anonymity", k = 2 }]
[search]
suppression = 0.2
"""


def people(number=200, seed=5):
    rng = np.random.default_rng(seed)
    return {
        "id": [f"P{one:03}" for one in range(number)],
        "name": [f"Name {one}" for one in range(number)],
        "age": rng.integers(20, 80, number).tolist(),
        "sex": rng.choice(["f", "m"], number).tolist(),
        "dx": rng.choice(["flu", "ms"], number).tolist(),
    }


def shown_by(release):
    return release.to_frame("pyarrow").to_pydict()


def test_pseudonyms_stand_for_persons_and_only_the_key_makes_them_again(monkeypatch, tmp_path):
    monkeypatch.setenv("SHOAL_TEST_KEY", KEY)
    text = POLICY + '[pseudonyms]\ncolumns = ["id"]\nkey_variable = "SHOAL_TEST_KEY"'
    data = people()
    release = shoal.anonymize(data, shoal.Policy.parse(text))
    shown = shown_by(release)
    assert "name" not in shown
    assert len(set(shown["id"])) == len(shown["id"]) == 200 - release.suppressed
    assert not set(shown["id"]) & set(data["id"])
    again = shown_by(shoal.anonymize(data, shoal.Policy.parse(text)))
    monkeypatch.setenv("SHOAL_TEST_KEY", KEY + "!")
    other = shown_by(shoal.anonymize(data, shoal.Policy.parse(text)))
    assert again == shown
    assert not set(other["id"]) & set(shown["id"])
    written = release.save(tmp_path / "out.csv")
    assert all(KEY not in path.read_text() for path in written)
    assert release.mapping is None
    assert release.table.roles["id"] == "insensitive"


def test_pseudonyms_with_several_records_missing_values_and_counterfeits(monkeypatch):
    monkeypatch.setenv("SHOAL_TEST_KEY", KEY)
    data = people(60)
    data["name"][3] = None
    text = POLICY.replace("suppression = 0.2", 'suppression = 0.5\noutliers = "counterfeits"')
    text += '[pseudonyms]\ncolumns = ["id", "name"]\nkey_variable = "SHOAL_TEST_KEY"'
    release = shoal.anonymize(data, shoal.Policy.parse(text.replace("k = 2", "k = 4")))
    invented = release.facts["outliers"].get("counterfeits", 0)
    shown = shown_by(release)
    assert len(shown["id"]) == 60 + invented
    assert len(set(shown["id"])) == 60 + invented
    assert shown["name"].count(None) == 1
    assert release.met


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ('columns = ["id"]\nkey_variable = "SHOAL_NO_SUCH"', "cannot be read"),
        ('columns = ["id"]\nkey_file = "no such file"', "cannot be read"),
        ('columns = ["id"]\nkey_variable = "SHOAL_SHORT"', "shorter than 16"),
        ('columns = ["age"]\nkey_variable = "SHOAL_TEST_KEY"', "cannot get pseudonyms, because it is neither a direct"),
        ('columns = ["id"]', "requires exactly one of key_file and key_variable"),
    ],
)
def test_bad_keys_are_refused_and_never_shown(monkeypatch, said, match):
    monkeypatch.setenv("SHOAL_TEST_KEY", KEY)
    monkeypatch.setenv("SHOAL_SHORT", "tooshort")
    with pytest.raises(PolicyError, match=match) as error:
        shoal.anonymize(people(), shoal.Policy.parse(f"{POLICY}[pseudonyms]\n{said}"))
    assert KEY not in str(error.value)
    assert "tooshort" not in str(error.value)


@given(
    rows=st.lists(st.tuples(st.integers(20, 60), st.integers(0, 2), st.sampled_from("fm")), min_size=4, max_size=40),
    recoding=st.sampled_from(["global", "local", "suppression", "mondrian", "microaggregation"]),
)
def test_a_linked_column_tells_no_more_than_its_leader(rows, recoding):
    text = f"""
        version = 1
        columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [10, 20] }} }}
        columns.born = {{ role = "quasi", linked = "age", hierarchy = {{ kind = "interval", widths = [5, 20] }} }}
        columns.sex = "quasi"
        columns.note = "insensitive"
        require = [{{ model = "k-anonymity", k = 2 }}]
        search = {{ suppression = 0.4, recoding = "{recoding}" }}
    """
    born = [2024 - age - late for age, late, _ in rows]
    data = {"age": [row[0] for row in rows], "born": born, "sex": [row[2] for row in rows], "note": range(len(rows))}
    release = shoal.anonymize(data, shoal.Policy.parse(text))
    shown = shown_by(release)
    follows = defaultdict(set)
    for age, year in zip(shown["age"], shown["born"], strict=True):
        follows[age].add(year)
    assert all(len(years) == 1 for years in follows.values())
    for note, year in zip(shown["note"], shown["born"], strict=True):
        low, high = (int(end) for end in str(year).split("-")) if "-" in str(year) else (0, 9999)
        assert str(year) in {"*", str(born[note])} or low <= born[note] <= high
    assert release.table.quasi == ("age", "born", "sex")
    assert release.met
    assert release.mapping is None


def test_links_that_make_no_sense_are_refused():
    text = 'version = 1\nrequire = [{ model = "k-anonymity", k = 2 }]\ncolumns.a = "quasi"\n'
    wrong = {
        '{ role = "quasi", linked = "c" }': "which does not exist",
        '{ role = "sensitive", linked = "a" }': "Both must be quasi-identifiers, and",
    }
    for said, match in wrong.items():
        with pytest.raises(PolicyError, match=match) as refused:
            shoal.anonymize({"a": [1, 1], "b": [2, 2]}, shoal.Policy.parse(f"{text}columns.b = {said}"))
    assert refused.value.hint == "If one of them has another role now, remove the link of column 'b' to 'a'."


def test_a_sample_is_drawn_by_person_and_lowers_the_risk_of_a_journalist(monkeypatch):
    data = {name: held + held[:50] for name, held in people().items()}  # fifty persons have two records
    text = POLICY + 'sample = 0.5\n[draw]\nkey_variable = "DRAW_KEY"\n'
    monkeypatch.setenv("DRAW_KEY", "a key that is long enough")
    release = shoal.anonymize(data, shoal.Policy.parse(text))
    shown = shown_by(release)
    told = release.facts["sampling"]
    assert told["share"] == 0.5
    assert release.internal["input"]["persons"] == 200
    assert release.internal["sample"]["persons"] == 100
    assert len(shown["age"]) < 140
    assert told["journalist"]["highest"] <= told["prosecutor"]["highest"] <= 0.5
    assert told["journalist"]["average"] < told["prosecutor"]["average"]
    assert "long enough" not in json.dumps([release.facts, release.internal], default=str)
    assert shown_by(shoal.anonymize(data, shoal.Policy.parse(text))) == shown
    monkeypatch.setenv("DRAW_KEY", "another key that is long enough")
    assert shown_by(shoal.anonymize(data, shoal.Policy.parse(text))) != shown
    classes = Counter(zip(shown["age"], shown["sex"], strict=True))
    assert min(classes.values()) >= 2


def test_nobody_can_guess_what_is_drawn(tmp_path):
    """Without a key in the policy, a fresh one is made each time, and kept where only the owner can read it."""
    data, text = people(), POLICY + "sample = 0.5\n"
    first, second = (shoal.anonymize(data, shoal.Policy.parse(text)) for _ in range(2))
    assert first.part.drawn.tolist() != second.part.drawn.tolist()
    *_, key = first.save(tmp_path / "out.csv")
    assert (key.name, key.stat().st_mode & 0o777) == ("draw.key", 0o600)
    (tmp_path / "policy.toml").write_text(f'{text}[draw]\nkey_file = "out.csv.owner-only/draw.key"\n')
    again = shoal.anonymize(data, tmp_path / "policy.toml")
    assert again.part.drawn.tolist() == first.part.drawn.tolist()
    guesses = [np.random.default_rng(seed).permutation(len(data["age"])) for seed in range(100)]
    size = len(first.part.drawn)
    assert all(set(guess[:size].tolist()) != set(first.part.drawn.tolist()) for guess in guesses)


def test_a_seed_is_refused_with_the_line_to_change():
    with pytest.raises(PolicyError, match=r"delete it, and set \[draw\] key_file"):
        shoal.Policy.parse(POLICY + "seed = 3\n")


@pytest.mark.parametrize(
    "asked", ['{ model = "delta-presence", delta_min = 0, delta_max = 0.6 }', '{ model = "k-map", k = 3 }']
)
@pytest.mark.parametrize("top", ["", "search.levels.sex = [1, 1]", "search.levels = { age = [3, 3], sex = [1, 1] }"])
def test_requirements_with_a_register_are_searched_for_and_verified(tmp_path, asked, top):
    """Also where a quasi-identifier is on its top level, on which the register shows * as the release does."""
    rng = np.random.default_rng(11)
    everybody = {"age": rng.integers(20, 80, 300).tolist(), "sex": rng.choice(["f", "m"], 300).tolist()}
    lines = [f"{age},{sex}" for age, sex in zip(everybody["age"], everybody["sex"], strict=True)]
    (tmp_path / "register.csv").write_text("age,sex\n" + "\n".join(lines) + "\n")
    (tmp_path / "policy.toml").write_text(
        f"""
        version = 1
        columns.age = {{ role = "quasi", hierarchy = {{ kind = "interval", widths = [5, 20] }} }}
        columns.sex = "quasi"
        require = [{asked}]
        search.suppression = 0.1
        population.file = "register.csv"
        {top}
        """
    )
    data = {name: held[:80] for name, held in everybody.items()}
    release = shoal.anonymize(data, tmp_path / "policy.toml")
    assert release.met
    level = release.scheme["age"]
    shown = Counter(zip(*(shown_by(release)[name] for name in ("age", "sex")), strict=True))

    def looks(age, sex):
        label = [str(age), f"{age // 5 * 5}-{age // 5 * 5 + 4}", f"{age // 20 * 20}-{age // 20 * 20 + 19}", "*"][level]
        return label, sex if release.scheme["sex"] == 0 else "*"

    people = Counter(looks(age, sex) for age, sex in zip(everybody["age"], everybody["sex"], strict=True))
    for (age, sex), persons in shown.items():
        number = people[str(age), sex]
        assert number >= 3 if "k-map" in asked else persons <= 0.6 * number
    mondrian = (tmp_path / "policy.toml").read_text() + '\nsearch.recoding = "mondrian"\n'
    (tmp_path / "policy.toml").write_text(mondrian)
    with pytest.raises(ShoalError):
        shoal.anonymize(data, tmp_path / "policy.toml")


def test_the_internal_manifest_holds_a_policy_that_can_be_used_again():
    policy = shoal.Policy.parse(POLICY)
    release = shoal.anonymize(people(), policy)
    again = shoal.Policy.model_validate(json.loads(json.dumps(release.internal["policy"])))
    assert shown_by(shoal.anonymize(people(), again)) == shown_by(release)


@pytest.mark.parametrize("recoding", ["global", "local", "mondrian", "microaggregation"])
def test_the_manifest_counts_what_is_in_the_file(recoding):
    data = people()
    extra = f'outliers = "relocate"\nrecoding = "{recoding}"\n'
    release = shoal.anonymize(data, shoal.Policy.parse((POLICY + extra).replace("k = 2", "k = 7")))
    shown = shown_by(release)
    assert release.facts["records"] == len(shown["age"])
    assert release.classes == len(set(zip(shown["age"], shown["sex"], strict=True)))
    assert ("Relocated" in release.facts["truthful"]) == bool(release.facts["outliers"].get("moved"))
    assert ("suppressed" in release.facts["truthful"]) == bool(release.suppressed)


def test_persons_whose_records_differ():
    """Stays of patients who get older: k counts patients, and only records of small classes are left out."""
    rng = np.random.default_rng(8)
    who = np.repeat(np.arange(60), rng.integers(1, 5, 60))
    age = rng.integers(20, 80, 60)[who] + rng.integers(0, 4, len(who))
    data = {"id": [f"P{one:02}" for one in who], "name": ["x"] * len(who), "age": age.tolist()}
    data |= {"sex": np.array(["f", "m"])[who % 2].tolist(), "dx": ["flu"] * len(who), "stay": list(range(len(who)))}
    text = POLICY.replace("k = 2", "k = 4").replace("columns.dx", 'columns.stay = "insensitive"\ncolumns.dx')
    release = shoal.anonymize(data, shoal.Policy.parse(text))
    shown = shown_by(release)
    patients = defaultdict(set)
    for stay, *key in zip(shown["stay"], shown["age"], shown["sex"], strict=True):
        patients[tuple(key)].add(int(who[stay]))
    assert min(map(len, patients.values())) >= 4
    left_out = {int(who[stay]) for stay in set(data["stay"]) - set(shown["stay"])}
    assert 0 < release.suppressed == len(left_out) <= 12
    for outliers in ("cells", "relocate", "counterfeits"):
        with pytest.raises(ShoalError, match="several records"):
            shoal.anonymize(data, shoal.Policy.parse(text + f'outliers = "{outliers}"\n'))
    with pytest.raises(ShoalError, match="several records"):
        shoal.anonymize(data, shoal.Policy.parse(text + 'recoding = "subsets"\n'))
