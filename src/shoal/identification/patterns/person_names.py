"""Names of persons, recognised by frequent given names."""

import re
import tomllib
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from shoal.identification.patterns.pattern import PATTERNS, Mask, Pattern
from shoal.identification.vocabulary import plain

_WORD = r"[A-ZÀ-ÖØ-Þ][A-Za-zÀ-ÖØ-öø-ÿ'’\-]*\.?"


@cache
def _given_names() -> frozenset[str]:
    text = files("shoal.identification").joinpath("words/given_names.toml").read_text("utf-8")
    return frozenset(plain(name) for names in tomllib.loads(text).values() for name in names.split())


def has_given_name(texts: NDArray[np.str_]) -> Mask:
    """Return a mask of the texts that contain a frequent given name.

    >>> has_given_name(np.array(["MÜLLER, JÜRGEN", "Anna", "Paris"])).tolist()
    [True, True, False]
    """
    known = _given_names()
    return np.array([any(plain(word) in known for word in re.split(r"[\s,]+", text)) for text in texts.tolist()], bool)


PATTERNS.register("person-names")(
    Pattern(
        "person-names",
        "person-name",
        "personal names",
        rf"{_WORD}(?:,?\s+{_WORD}){{0,4}}",
        has_given_name,
        apart=r"^\s+",
        digits=False,
        followed=0.5,
        fewest=5,
        sure=False,
    )
)
