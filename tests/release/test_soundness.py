"""A technique that does something else than it declares releases nothing."""

import json
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import ReleaseError
from shoal.policy.search import Search
from shoal.table.column import Column
from shoal.table.kind import Kind
from shoal.table.role import Role
from shoal.techniques.change import Added, Drawn, Moved, Replaced, Suppressed
from shoal.techniques.full_domain import best_scheme
from shoal.techniques.technique import Technique, Truth
from shoal.techniques.treatment import Treatment

DATA = {"age": [31, 34, 36, 38, 71, 72, 75, 78] * 5, "dx": ["flu", "ms"] * 20}
POLICY = """
version = 1
columns.age = { role = "quasi", hierarchy = { kind = "interval", widths = [10] } }
columns.dx = "sensitive"
require = [{ model = "k-anonymity", k = 2 }]
search = { suppression = 0.05 }
"""


class Careless(Technique):
    """Does what the test wants."""

    kind: Literal["careless"] = "careless"
    says: ClassVar[str] = "Something is done."
    iso: ClassVar[str] = "generalisation"
    does: str = ""

    def treat(self, goal, progress=lambda _: None):
        """Begin with the best scheme, and do one thing more."""
        treatment = best_scheme(goal, progress)
        some = np.arange(len(treatment.rows)) < 2
        column = goal.space.table["age"]
        changes = {
            "hides": [Suppressed(some, 0)],
            "forgets": [Suppressed(some[:3], 0)],
            "draws": [Drawn(column, lambda codes, _: codes)],
            "draws dx": [Drawn(goal.space.table["dx"], lambda codes, _: codes)],
            "replaces": [Replaced(column, np.zeros(len(treatment.rows), np.uint8))],
            "moves": [Moved(some)],
            "adds": [Added(np.arange(4))],
            "replaces some": [Replaced(column, np.zeros(2, np.uint8))],
            "replaces by nothing": [Replaced(column, np.full(len(treatment.rows), 200, np.uint8))],
        }
        if self.does == "returns nothing":
            return None
        if self.does == "says nothing":
            return Treatment(treatment.rows, ())
        return treatment.changed(*changes[self.does])


@pytest.mark.parametrize(
    ("does", "problem"),
    [
        ("hides", "suppresses 10 persons but reports 0"),
        ("forgets", "covers 3 of 8 distinct rows"),
        ("draws", "makes perturbed ones"),
        ("draws dx", "changes column 'dx'"),
        ("replaces", "makes representative ones"),
        ("moves", "makes perturbed ones"),
        ("adds", "makes invented ones"),
        ("says nothing", "has no Generalised change for column 'age'"),
        ("replaces some", "changes 2 of 8 distinct rows in column 'age'"),
        ("replaces by nothing", "shows codes in column 'age' that stand for nothing"),
        ("returns nothing", "returns no treatment"),
    ],
)
def test_what_is_not_declared_is_not_released(does, problem):
    asked = shoal.Policy.parse(POLICY)
    search = Search.model_construct(**{**dict(asked.search), "recoding": Careless(does=does)})
    with pytest.raises(ReleaseError, match=problem):
        shoal.anonymize(DATA, asked.model_copy(update={"search": search}))


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ({"says": "It is done."}, "lacks iso"),
        ({"iso": "generalisation"}, "lacks says"),
        ({"says": "It is done.", "iso": "noise", "truth": Truth.PERTURBED}, "perturbed cells"),
    ],
)
def test_a_technique_says_what_it_is(declared, problem):
    with pytest.raises(TypeError, match=problem):
        type("Silent", (Technique,), {"__module__": __name__, "__doc__": "It is done.", **declared})


class Representatives(Technique):
    """All ages are released as 50."""

    kind: Literal["representatives"] = "representatives"
    says: ClassVar[str] = "Everybody is 50."
    iso: ClassVar[str] = "microaggregation"
    truth: ClassVar[Truth] = Truth.REPRESENTATIVE
    untrue: ClassVar[str] = "Ages stand for others."

    def treat(self, goal, progress=lambda _: None):
        """Replace ages by one that stands for all."""
        treatment = best_scheme(goal, progress)
        column = Column("age", Kind.INTEGER, pa.array([50]))
        return treatment.changed(Replaced(column, np.zeros(len(treatment.rows), np.uint8)))


def test_cells_that_only_look_exact_are_not_called_so(tmp_path):
    """Nothing is generalised, no level is told, and no loss is computed from cells that stand for others."""
    asked = shoal.Policy.parse(POLICY)
    search = Search.model_construct(**{**dict(asked.search), "recoding": Representatives()})
    release = shoal.anonymize(DATA, asked.model_copy(update={"search": search}))
    assert release.facts["truthful"] == "Ages stand for others."
    assert release.levels == {}
    release.save(tmp_path / "out.csv")
    public = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert public["loss_by_label"] == {"total": None, "columns": {"age": None}}
    for external in (False, True):
        page = shoal.report(DATA, release, external=external).to_markdown()
        assert "microaggregation" in page
        assert "Ages stand for others." in page
        assert "Information loss 0" not in page


def test_secrets_are_not_printed_by_accident():
    asked = shoal.Policy.parse(POLICY.replace("0.05", "0.1, sample = 0.5"))
    release = shoal.anonymize({name: cells * 5 for name, cells in DATA.items()}, asked)
    assert release.part.key is not None
    printed = " ".join(
        map(repr, (release, release.parts, release.part, release.part.promise, release.part.transformation))
    )
    for secret in (release.part.key.decode(), "flu", "array"):
        assert secret not in printed
    assert any("another run gives another release" in note for note in release.notes)


def test_limits_are_measured_on_those_who_were_drawn():
    """Who is not in the release cannot be found in it, and must not make it look safe."""
    asked = shoal.Policy.parse(
        POLICY.replace("0.05", "0.1, sample = 0.5").replace(
            "k = 2 }]", 'k = 2 }, { attack = "linkage", at_most = 0.9 }]'
        )
    )
    release = shoal.anonymize({name: cells * 5 for name, cells in DATA.items()}, asked)
    sample = release.with_part(release.part.as_sample())
    assert sample.given.records == len(release.part.drawn) < release.given.records
    success = shoal.attack(sample.given, sample, attacks=["linkage"]).of("linkage").success
    assert release.requirements[-1].verdict.value["success"] == success.value
    assert success.value == pytest.approx(release.classes / release.table.records, rel=0.3)
    assert Role.QUASI in Technique.touches
