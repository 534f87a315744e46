"""Where ARX 3.9.2 is wrong, with the right answer."""

import numpy as np
import pytest

from shoal.engines.memory import MemoryEngine
from shoal.models.evidence import Gatherer, View
from shoal.models.model import MODELS
from shoal.qualities.quality import QUALITIES
from shoal.search.goal import Goal
from shoal.search.plain import Plain
from shoal.search.space import Space
from shoal.table.table import Table
from tests.search.test_oracles import NAMES, adult, goal


def repeated(table, times):
    """Return a table in which every record is there so many times."""
    codes = {name: np.tile(table.codes(name), times) for name in table.names}
    sizes = {column.name: column.size for column in table.columns}
    return Table(table.columns, MemoryEngine(codes, sizes, times * table.records))


@pytest.mark.parametrize("times", [1, 10])
def test_hierarchical_t_closeness_of_large_tables(shared, times):
    """ARX multiplies in 32 bits: with 301,620 records it takes sex 0, age 4 for 0.1-close, which is 0.1902 away."""
    table, hierarchies = adult()
    table = repeated(table, times).assign(quasi=["sex", "age"], sensitive=["occupation"])
    model = MODELS["t-closeness"](t=0.1, distance="hierarchical", column="occupation")
    space = Space.of(table, ["sex", "age"], hierarchies)
    sought = Goal(space, Gatherer(table, hierarchies=hierarchies), (model,), QUALITIES["loss"](), 0)
    assert space.scheme(sought.optimum().best.scheme) == {"sex": 1, "age": 4}
    plain = Plain(space, sought.gatherer, sought.models, sought.quality, table.records)
    classes = plain.judged(space.number({"sex": 0, "age": 4})).classes
    measured = model.measure(plain.about(View(("sex", "age"), ("occupation",)), classes, {}))
    assert float(measured["t"]) == pytest.approx(0.1902, abs=5e-5)


def test_classes_that_are_exactly_uniform_reach_their_entropy(shared):
    """A class with three of each of two values is worth exactly two; by rounding, ARX suppresses 531 instead of 525."""
    models = [MODELS["k-anonymity"](k=5), MODELS["entropy-l-diversity"](l=2, column="occupation")]
    sought = goal(models, "loss", 0.02, ["occupation"])
    found = sought.optimum().best
    scheme = {"sex": 0, "age": 3, "race": 0, "marital-status": 2, "education": 2, "native-country": 1, "workclass": 1}
    assert sought.space.scheme(found.scheme) == {**scheme, "salary-class": 0}
    assert found.suppressed == 525


@pytest.mark.parametrize(
    ("l", "limit", "levels", "suppressed"),
    [(2, 0.02, [0, 3, 0, 2, 2, 1, 1, 0], 516), (5, 1.0, [0, 3, 0, 0, 2, 1, 1, 0], 3617)],  # ARX: 525 and 3,921
)
def test_grassbergers_estimate_is_of_the_whole_class(shared, l, limit, levels, suppressed):  # noqa: E741
    """ARX stops adding up as soon as a partial sum is too large, though singletons bring it down again."""
    names = [name for name in NAMES if name != "occupation"]
    model = MODELS["entropy-l-diversity"](l=l, column="occupation", estimator="grassberger")
    sought = goal([MODELS["k-anonymity"](k=5), model], "loss", limit, ["occupation"])
    scheme = dict(zip(names, levels, strict=True))
    assert sought.plain.judged(sought.space.number(scheme)).persons == suppressed
    assert sought.space.scheme(sought.optimum().best.scheme) == scheme
