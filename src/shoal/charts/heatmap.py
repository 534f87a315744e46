"""Heatmap of persons and variables (Kroes 2021, Figure 2): the protection of all persons in all variables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.charts.chart import Chart
from shoal.charts.colours import BREACH, FAINT, INK, PROTECTED
from shoal.charts.raster import inline, png
from shoal.errors import ModelError
from shoal.individuals.people import People
from shoal.individuals.variable import Variable
from shoal.words import share

WIDTH, HEIGHT, GAP = 840, 26, 3  # width of the raster, height of a variable, gap between variables
STEPS = (0.2, 0.4, 0.6, 0.8, 1.0)


MEASURES = {
    "ppp": "Proportion of protective peers (PPP): share of the individuals with the same known values who have another "
    "value; minimum over all combinations of known variables",
    "full": "Proportion of protective peers (PPP): share of the individuals with the same known values who have "
    "another value, if all known variables are used",
    "poac": "PoAC: share of the other values that remain possible; minimum over all combinations",
}


def heatmap(people: People, *, measure: str = "ppp", unknown_for: str | None = None) -> Chart:
    """Draw all persons from left to right and all variables from top to bottom.

    ``measure``: "ppp", "full" (PPP if all variables are known) or "poac". ``unknown_for``: draw only this sensitive
    variable, with one row for each of the other variables as if it were unknown (leave-one-out).

    Persons are ordered by the number of breached variables, then by their profiles, so that similar persons are
    adjacent. A column of pixels represents consecutive persons. From bottom to top it shows the share of breached
    persons, then the others by degree of protection, in their exact shares.

    >>> import shoal
    >>> chart = heatmap(shoal.peers({"dx": ["flu", "flu", "ms"], "sex": ["f", "f", "m"], "age": [1, 2, 2]}))
    >>> chart.spec["title"]["text"]
    'At least one variable is disclosed for 3 of 3 individuals'
    """
    if measure not in MEASURES:
        raise ModelError(
            "unknown-measure",
            "There is no heatmap of '{measure}'.",
            remedy="Choose one of {measures}.",
            measure=measure,
            measures=", ".join(MEASURES),
        )
    shown = people.variables if unknown_for is None else people.leave_one_out(unknown_for)
    if not shown:
        raise ModelError(
            "nothing-to-omit",
            "Only one variable is known about '{variable}', so none can be omitted.",
            variable=unknown_for,
        )
    drawn = _Drawn.of(people, shown, measure)
    order, breached = drawn.order(), drawn.breached()
    return Chart.of(
        drawn.title(measure, unknown_for),
        drawn.subtitle(people, measure, unknown_for),
        {
            "vconcat": [
                _margin(breached[order], drawn.weights[order], len(drawn.names)),
                {
                    "hconcat": [
                        _raster(drawn.names, drawn.classes[:, order], drawn.weights[order]),
                        _ends(drawn.names, drawn.classes, drawn.weights),
                    ],
                    "spacing": 6,
                },
                _key(drawn.least, "PoAC" if measure == "poac" else "PPP"),
            ],
            "spacing": 8,
        },
    )


def persons_in_order(people: People) -> NDArray[np.intp]:
    """Return a record for each person, in the order of the heatmap from left to right.

    Persons with identical records are represented by the first of these records.

    >>> import shoal
    >>> persons_in_order(shoal.peers({"dx": ["flu", "flu", "ms"], "sex": ["f", "f", "m"]})).tolist()
    [0, 0, 2]
    """
    drawn, rows = _Drawn.of(people, people.variables, "ppp"), people.counted.rows
    holders = people.counted.holders()
    first = np.zeros(len(rows.weights), np.intp)
    known, at = np.unique(holders, return_index=True)
    first[known] = at
    order = drawn.order()
    return np.repeat(first[drawn.holders[order]], drawn.weights[order])


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Content of the heatmap: the protection class of each group of persons in each variable, 0 if breached.

    A group consists of persons with identical records. ``weights``: the number of persons per group. ``holders``: the
    index of each group among the holders of the counted rows. ``least``: the value up to which a person is breached.
    """

    names: list[str]
    classes: NDArray[np.uint8]
    weights: NDArray[np.int64]
    holders: NDArray[np.intp]
    least: float

    @classmethod
    def of(cls, people: People, shown: Mapping[str, Variable], measure: str) -> "_Drawn":
        """Classify the values, and sort the variables by the number of breached persons."""
        rows, sampled = people.counted.rows, people.question.sampled
        weights = rows.weights if sampled is None else sampled
        by_name = {}
        for name, variable in shown.items():
            values, breached = _measured(people, variable, measure)
            classes = 1 + np.searchsorted(STEPS[:-1], values, side="left")
            weakest = np.full(len(weights), len(PROTECTED), np.uint8)  # weakest protection over all records of a person
            np.minimum.at(weakest, rows.holders, np.where(breached, 0, classes).astype(np.uint8))
            by_name[name] = weakest
        names = sorted(by_name, key=lambda name: -int(weights[by_name[name] == 0].sum()))
        chosen = weights > 0
        least = 0.0 if measure == "poac" else float(people.p)
        stacked = np.stack([by_name[name][chosen] for name in names])
        return cls(names, stacked, weights[chosen], np.flatnonzero(chosen), least)

    def breached(self) -> NDArray[np.intp]:
        """Return the number of breached variables per group."""
        return np.asarray((self.classes == 0).sum(axis=0), np.intp)

    def order(self) -> NDArray[np.intp]:
        """Return the groups from left to right: by the number of breached variables, then by their profiles."""
        return np.lexsort((*self.classes[::-1], -self.breached()))

    def title(self, measure: str, unknown_for: str | None) -> str:
        """Return a title that states the main result."""
        persons = int(self.weights.sum())
        if unknown_for is None:
            some = int(self.weights[(self.classes == 0).any(axis=0)].sum())
            what = "has no alternative" if measure == "poac" else "is disclosed"
            return f"At least one variable {what} for {some:,} of {persons:,} individuals"
        each = (self.classes == 0).astype(np.int64) @ self.weights
        name, least = self.names[int(np.argmin(each))], int(each.min())
        return f"Without {name}, {unknown_for} would be disclosed for {least:,} of {persons:,} individuals"

    def subtitle(self, people: People, measure: str, unknown_for: str | None) -> list[str]:
        """Return the explanation of the chart."""
        sample = people.sampled()
        sampled = f", a sample of {sample:,}" if sample is not None else ""
        rows = (
            ""
            if unknown_for is None
            else f" Rows: the variable that is omitted from the background knowledge about {unknown_for}."
        )
        return [
            f"Columns: {people.persons():,} individuals{sampled}, ordered by the number of disclosed variables." + rows,
            MEASURES[measure],
        ]


def _measured(people: People, variable: Variable, measure: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    if measure == "poac":
        values = variable.poac()
        if values is None:
            raise ModelError(
                "not-computed",
                "PoAC is not computed with tolerances, several known records or a limited number of variables.",
            )
        return values, values == 0
    protection = variable.least if measure == "ppp" else variable.full
    return protection.ppp().floats(), protection.breached(people.p)


def _bins(weights: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the group of each person in order, and the first person of each column of pixels.

    The last entry of the second array is the number of persons.
    """
    rows = np.repeat(np.arange(len(weights)), weights)
    starts = (np.arange(WIDTH + 1, dtype=np.int64) * len(rows)) // WIDTH
    return rows, starts


def _shares(classes: NDArray[np.uint8], weights: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return ``pixels[y, x]`` of a variable: each column of pixels shows the classes of its persons by their shares.

    >>> import numpy as np
    >>> pixels = _shares(np.array([0, 5], np.uint8), np.array([WIDTH, WIDTH]))
    >>> pixels[:, 0].tolist() == [0] * HEIGHT, pixels[:, -1].tolist() == [5] * HEIGHT
    (True, True)
    """
    rows, starts = _bins(weights)
    ends = np.maximum(starts[1:], starts[:-1] + 1)  # with fewer persons than pixels, a person is several pixels wide
    counts = np.zeros((len(PROTECTED) + 1, len(rows) + 1), np.int64)
    for place in range(len(PROTECTED) + 1):
        counts[place, 1:] = np.cumsum(classes[rows] == place)
    tally = counts[:, ends] - counts[:, starts[:-1]]
    reached = np.cumsum(tally, axis=0)
    heights = (2 * np.arange(HEIGHT)[:, None] + 1) * (ends - starts[:-1])  # centre of each pixel, in half persons
    pixels = np.zeros((HEIGHT, WIDTH), np.uint8)
    for place in range(len(PROTECTED)):
        pixels += (heights >= 2 * HEIGHT * reached[place]).astype(np.uint8)
    return pixels[::-1]


def _raster(names: Sequence[str], classes: NDArray[np.uint8], weights: NDArray[np.int64]) -> dict[str, Any]:
    blank = len(PROTECTED) + 1
    tall = len(names) * HEIGHT
    pixels = np.concatenate([_striped(_shares(of_person, weights), blank) for of_person in classes])
    picture = inline(png(pixels, [BREACH, *PROTECTED, "#ffffff"]))
    return {
        "width": WIDTH,
        "height": tall,
        "layer": [
            {
                "data": {"values": [{}]},
                "mark": {"type": "image", "url": picture, "width": WIDTH, "height": tall, "aspect": False},
                "encoding": {"x": {"value": WIDTH / 2}, "y": {"value": tall / 2}},
            },
            {
                "data": {"values": [{"variable": name} for name in names]},
                "mark": {"type": "point", "opacity": 0},
                "encoding": {
                    "y": {
                        "field": "variable",
                        "type": "nominal",
                        "sort": list(names),
                        "title": None,
                        "axis": {"ticks": False, "domain": False, "labelLimit": 280, "labelPadding": 8},
                    }
                },
            },
        ],
    }


def _striped(pixels: NDArray[np.uint8], blank: int) -> NDArray[np.uint8]:
    """Add a white gap below a variable."""
    pixels = pixels.copy()
    pixels[HEIGHT - GAP :] = blank
    return pixels


def _margin(breached: NDArray[np.intp], weights: NDArray[np.int64], variables: int) -> dict[str, Any]:
    """Draw the number of breached variables per person."""
    rows, starts = _bins(weights)
    first = np.minimum(starts[:-1], len(rows) - 1)
    steps = [{"x": x, "breached": int(breached[rows[person]])} for x, person in enumerate(first.tolist())]
    changed = [step for x, step in enumerate(steps) if x == 0 or step["breached"] != steps[x - 1]["breached"]]
    return {
        "width": WIDTH,
        "height": 48,
        "data": {"values": [*changed, {"x": WIDTH, "breached": changed[-1]["breached"]}]},
        "mark": {"type": "area", "interpolate": "step-after", "color": BREACH, "opacity": 0.75},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [0, WIDTH], "nice": False}},
            "y": {
                "field": "breached",
                "type": "quantitative",
                "scale": {"domain": [0, variables]},
                "title": "variables",
                "axis": {"values": [0, variables], "grid": False},
            },
        },
    }


def _ends(names: Sequence[str], classes: NDArray[np.uint8], weights: NDArray[np.int64]) -> dict[str, Any]:
    """Draw the share and the number of breached persons at the end of each variable."""
    total = int(weights.sum())
    persons = [int(weights[of_person == 0].sum()) for of_person in classes]
    values = [
        {"variable": name, "share": number / total, "percent": share(number / total), "persons": f"{number:,}"}
        for name, number in zip(names, persons, strict=True)
    ]
    place = {"field": "variable", "type": "nominal", "sort": list(names), "axis": None}
    return {
        "width": 190,
        "height": len(names) * HEIGHT,
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "bar", "color": BREACH, "opacity": 0.85, "height": HEIGHT - 12, "yOffset": -GAP / 2},
                "encoding": {
                    "y": place,
                    "x": {
                        "field": "share",
                        "type": "quantitative",
                        "axis": None,
                        "scale": {"domain": [0, 1], "range": [0, 80]},
                    },
                },
            },
            *(
                {
                    "mark": {"type": "text", "align": "right", "baseline": "middle", "yOffset": -GAP / 2},
                    "encoding": {"y": place, "x": {"value": right}, "text": {"field": field}},
                }
                for field, right in (("percent", 128), ("persons", 188))
            ),
        ],
    }


def _key(least: float, measure: str) -> dict[str, Any]:
    """Draw the legend."""
    low = [least, *STEPS[:-1]]
    classes = [(high, f"{max(from_, least):g} – {high:g}") for from_, high in zip(low, STEPS, strict=True)]
    kept = [(colour, text) for colour, (high, text) in zip(PROTECTED, classes, strict=True) if high > least]
    swatches = [(BREACH, f"disclosed: {measure} ≤ {least:g}"), *kept]
    values = [
        {"x": 0 if place == 0 else 60 + 110 * place, "colour": colour, "text": text}
        for place, (colour, text) in enumerate(swatches)
    ]
    across = {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [0, WIDTH], "range": [0, WIDTH]}}
    return {
        "width": WIDTH,
        "height": 20,
        "data": {"values": values},
        "layer": [
            {
                "mark": {
                    "type": "square",
                    "size": 180,
                    "opacity": 1,
                    "stroke": FAINT,
                    "strokeWidth": 0.5,
                    "xOffset": 7,
                },
                "encoding": {"x": across, "fill": {"field": "colour", "scale": None}, "y": {"value": 10}},
            },
            {
                "mark": {"type": "text", "align": "left", "xOffset": 20, "color": INK},
                "encoding": {"x": across, "y": {"value": 10}, "text": {"field": "text"}},
            },
        ],
    }
