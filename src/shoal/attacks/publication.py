"""Publication: what a release shows of all individuals, and which of them could have been shown more finely."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attacks.scene import Scene
from shoal.kernels.grouping import group_rows
from shoal.recoding.nodes import Ints

WIDEST = 200  # maximum size of a group
_SCHEMES = 100  # maximum number of schemes, the most frequent ones


class Withheld(StrEnum):
    """How a group was withheld: suppressed, or generalised further than by unchanged values, or by a used scheme."""

    SUPPRESSED = "suppressed"
    EXACT = "exact"
    SCHEME = "scheme"


@dataclass(frozen=True, slots=True, eq=False)
class WithheldGroup:
    """Individuals who could have formed a class, and are in a coarser class, or suppressed.

    ``members``: their positions. ``values``: the number of times that each value occurs in their class; None if they
    are suppressed, so that their values are not published.
    """

    members: NDArray[np.intp]
    values: NDArray[np.int64] | None
    way: Withheld


@dataclass(frozen=True, slots=True, eq=False)
class _Forms:
    """The forms in which a column can be shown. ``of_level[g][i]``: the cell of individual i on level g.

    ``lowest[i]``, ``highest[i]``: the levels on which the cell of individual i is the released one; the highest of all
    if there is none. A label may be the same on several levels.
    """

    of_level: tuple[NDArray[np.uint32], ...]
    lowest: Ints
    highest: Ints

    @classmethod
    def of(cls, scene: Scene, name: str, own: NDArray[np.intp]) -> "_Forms":
        """Read the levels of a hierarchy; without one, a column shows values, or nothing certain.

        ``own``: the released record of each individual, −1 if it is suppressed.
        """
        codes = scene.original.codes(name)[scene.insiders.records]
        exact = codes.astype(np.uint32)
        ladder, everything = scene.hierarchies.get(name), np.zeros(len(codes), np.uint32)
        if name not in scene.cells:
            top = np.ones(len(codes), np.int64)
            return cls((exact, everything), top, top)
        if ladder is None:
            cells = scene.cells[name]
            is_exact = cells.sizes[cells.nodes[cells.codes[own]]] == 1
            level = np.where(is_exact, 0, 1)
            return cls((exact, everything), level, level)
        text = scene.release[name].labels().take(pa.array(scene.release.codes(name)[own]))
        levels = tuple(ladder.nodes(level)[codes].astype(np.uint32) for level in range(ladder.height + 1))
        same = np.zeros((ladder.height + 1, len(codes)), bool)
        for step in range(ladder.height + 1):
            labels = scene.original[name].labels() if step == 0 else ladder.labels(step)
            equal = pc.equal(labels.take(pa.array(codes)), text)
            same[step] = pc.fill_null(equal, fill_value=False).to_numpy(zero_copy_only=False)
        same[-1] |= ~same.any(axis=0)
        return cls(levels, same.argmax(axis=0), ladder.height - same[::-1].argmax(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class Publication:
    """What a release shows of all individuals.

    ``classes``: the class of each individual; ``is_released``: whether it has one. ``forms``: the forms of each
    quasi-identifier.
    """

    classes: NDArray[np.uint32]
    is_released: NDArray[np.bool_]
    forms: Mapping[str, _Forms]

    @classmethod
    def of(cls, scene: Scene, truth: NDArray[np.intp]) -> "Publication":
        """Read a release of which the record of each individual is known to the evaluation."""
        own = truth[scene.insiders.records]
        is_released = own >= 0
        cells = [np.where(is_released, scene.release.codes(name)[own].astype(np.int64) + 1, 0) for name in scene.known]
        sizes = [scene.release[name].size + 1 for name in scene.known]
        classes = group_rows([of.astype(np.uint32) for of in cells], sizes, len(own)).ids
        return cls(classes, is_released, {name: _Forms.of(scene, name, own) for name in scene.original.quasi})

    @property
    def number(self) -> int:
        """The number of classes."""
        return len(np.unique(self.classes[self.is_released]))

    def groups(self, values: Ints, number: int, least: int) -> Iterator[WithheldGroup]:
        """Yield the groups of at least ``least`` individuals that were generalised further, or suppressed.

        A group has equal cells under a scheme that the release uses for other records, or equal values. None of its
        individuals is shown under this scheme or a finer one. ``values``: the sensitive value of each individual, below
        ``number``.
        """
        order, starts = _sorted(self.classes)
        for scheme, way in self._schemes():
            at = self._at(scheme)
            later = ~self.is_released | (self._at_or_above(scheme) & ~at)
            for members in self._divided(scheme, later, at, least):
                group = self.classes[members[0]]
                if not self.is_released[members].any():
                    if way is Withheld.SCHEME:
                        yield WithheldGroup(members, None, Withheld.SUPPRESSED)
                elif (self.classes[members] == group).all() and self.is_released[members].all():
                    whole = order[starts[group] : starts[int(group) + 1]]
                    if len(whole) > len(members):
                        yield WithheldGroup(members, np.bincount(values[whole], minlength=number).astype(np.int64), way)

    def _schemes(self) -> Iterator[tuple[tuple[int, ...], Withheld]]:
        """Yield the schemes of the released records, the most frequent first, and that of unchanged values."""
        lowest = np.stack([form.lowest for form in self.forms.values()])[:, self.is_released]
        if not lowest.size:
            return
        schemes, counts = np.unique(lowest, axis=1, return_counts=True)
        often = schemes[:, np.argsort(-counts, kind="stable")[:_SCHEMES]]
        used = [*dict.fromkeys(self._highest(tuple(scheme)) for scheme in often.T.tolist())]
        yield from ((scheme, Withheld.SCHEME) for scheme in used)
        exact = tuple(0 for _ in self.forms)
        if exact not in used:
            yield exact, Withheld.EXACT

    def _highest(self, scheme: tuple[int, ...]) -> tuple[int, ...]:
        """Return the highest scheme under which all individuals are shown who are shown under a given one."""
        at = self._at(scheme)
        return tuple(int(form.highest[at].min()) for form in self.forms.values())

    def _at(self, scheme: Sequence[int]) -> NDArray[np.bool_]:
        """Return the mask of the individuals who are shown under a scheme."""
        lowest = [form.lowest <= level for form, level in zip(self.forms.values(), scheme, strict=True)]
        return np.asarray(self._at_or_above(scheme) & np.logical_and.reduce(lowest))

    def _at_or_above(self, scheme: Sequence[int]) -> NDArray[np.bool_]:
        """Return the mask of the individuals who are shown under a scheme, or a more general one."""
        highest = [form.highest >= level for form, level in zip(self.forms.values(), scheme, strict=True)]
        return np.asarray(self.is_released & np.logical_and.reduce(highest))

    def _divided(
        self, scheme: tuple[int, ...], later: NDArray[np.bool_], at: NDArray[np.bool_], least: int
    ) -> Iterator[NDArray[np.intp]]:
        """Yield the members of each group of equal cells under a scheme.

        ``later``: the individuals that are not shown under it, or finer. ``at``: those that are shown under it: their
        groups are published.
        """
        people = np.flatnonzero(later | at)
        cells = [form.of_level[level][people] for form, level in zip(self.forms.values(), scheme, strict=True)]
        groups = group_rows(cells, [int(of.max(initial=0)) + 1 for of in cells], len(people))
        is_published = np.bincount(groups.ids, at[people], len(groups)) > 0
        order, starts = _sorted(groups.ids)
        for place in np.flatnonzero(~is_published & (groups.counts >= least) & (groups.counts <= WIDEST)).tolist():
            yield people[order[starts[place] : starts[place + 1]]]


def _sorted(groups: NDArray[np.uint32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions in the order of their groups, and where each group starts."""
    order = np.argsort(groups, kind="stable")
    return order, np.searchsorted(groups[order], np.arange(int(groups.max(initial=0)) + 2))
