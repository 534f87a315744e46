"""Layers: the way from one to the next, in the core, in its twin and scheme by scheme."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

from shoal.kernels import library
from shoal.kernels.layers import Layer

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=5)


def schemes_of_height(shape, height):
    levels = [held for held in product(*(range(size) for size in shape)) if sum(held) == height]
    return np.array(levels, np.int64).reshape(-1, len(shape))


@st.composite
def layers(draw):
    """Return a shape, and some of its schemes of one height with numbers that are known of them."""
    shape = draw(shapes)
    levels = schemes_of_height(shape, draw(st.integers(0, sum(shape) - len(shape))))
    seeded = np.random.default_rng(draw(st.integers(0, 99)))
    levels = levels[seeded.random(len(levels)) < draw(st.sampled_from([0.5, 0.9, 1.0]))]
    schemes = np.ravel_multi_index(tuple(levels.T), shape).astype(np.int64)
    known = seeded.integers(0, 9, len(levels)), seeded.random(levels.shape).round(1)
    return shape, Layer(schemes, levels, *known)


def expected(shape, layer):
    """Find the schemes below one by one."""
    here = {tuple(levels): place for place, levels in enumerate(layer.levels.tolist())}
    made = []
    for levels in product(*(range(size) for size in shape)):
        above = [
            (*levels[:column], level + 1, *levels[column + 1 :])
            for column, level in enumerate(levels)
            if level + 1 < shape[column]
        ]
        if above and all(coarser in here for coarser in above):
            places = [here[coarser] for coarser in above]
            made.append((levels, layer.at_least[places].max(), layer.extra[places].max(axis=0).tolist()))
    return made


@pytest.mark.parametrize("kernels", ["c", "numpy"])
@given(given_=layers())
@examples(150)
def test_the_schemes_below_are_found(kernels, given_):
    shape, layer = given_
    with library.using(kernels):
        below, finer = layer.below(shape)
    wanted = expected(shape, layer)
    assert [tuple(levels) for levels in below.levels.tolist()] == [levels for levels, _, _ in wanted]
    assert below.schemes.tolist() == np.ravel_multi_index(tuple(below.levels.T), shape).tolist()
    assert below.at_least.tolist() == [least for _, least, _ in wanted]
    assert below.extra.tolist() == [extra for _, _, extra in wanted]
    places = {levels: place for place, (levels, _, _) in enumerate(wanted)}
    for here, row in zip(layer.levels.tolist(), finer.tolist(), strict=True):
        for column, place in enumerate(row):
            levels = (*here[:column], here[column] - 1, *here[column + 1 :])
            assert place == places.get(levels, -1)


@pytest.mark.parametrize("kernels", ["c", "numpy"])
def test_all_schemes_are_reached_from_the_top(kernels):
    shape = [2, 1, 3, 4]
    with library.using(kernels):
        layer, seen = Layer.top(shape), []
        while len(layer):
            seen += layer.schemes.tolist()
            layer, _ = layer.below(shape)
    assert sorted(seen) == list(range(24))
