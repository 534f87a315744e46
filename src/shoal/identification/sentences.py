"""Free text: sentences written by a person, which may name any individual.

A label may be long, but it repeats. A sentence contains function words of a language, ends with a full stop, or
contains a title such as Mrs. A column is free text if a sentence occurs in few records only, or if a text contains an
e-mail address or a telephone number.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

MOST_VALUES = 20_000  # maximum number of values examined, evenly spaced
_LONG, _WORDS = 25, 4  # minimum number of characters and words in a sentence
_FEW = 5  # sentences in fewer records than this are free text
_RARELY = 0.1  # minimum ratio of distinct values to records, if values are long on average
_SIGNS = 12  # minimum number of characters in a sentence of a script without spaces
_ADDRESS = r"[\w.+\-%']+@[\w\-]+(?:\.[\w\-]+)+"
_NUMBER = r"(?:\+|00)\d[\d\s()./\-]{6,}\d|\b0\d{2,4}[\s/\-]?\d{5,}|\(?\d{3}\)?[\s.\-]\d{3}[\s.\-]\d{4}"
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]"
_ENDED = r"[.!?…]\s*$|[.!?]\s+\S"

Mask = NDArray[np.bool_]


@cache
def _small_words() -> str:
    """Return a regular expression for titles and for words that occur in sentences but not in labels."""
    text = files("shoal.identification").joinpath("words/sentences.toml").read_text("utf-8")
    words = sorted({word for words_of in tomllib.loads(text).values() for word in words_of.split()})
    return rf"(?i)(?:^|[^\p{{L}}])(?:{'|'.join(map(re.escape, words))})(?:$|[^\p{{L}}])"


def speaking(texts: pa.StringArray) -> Mask:
    """Return a mask of the texts that are sentences.

    >>> texts = ["Seen by Dr. Smith, who knows her well", "Malignant neoplasm of bronchus and lung"]
    >>> speaking(pa.array(texts)).tolist()
    [True, False]
    """
    texts = _spaced(texts)
    lengths = np.asarray(pc.utf8_length(texts))
    several = np.asarray(pc.count_substring_regex(texts, r"\S+")) >= _WORDS
    sentences = (lengths >= _LONG) & several
    if sentences.any():  # the patterns take milliseconds to compile
        sentences &= _has(texts, _small_words()) | _has(texts, _ENDED)
    if (lengths >= _SIGNS).any():
        sentences |= np.asarray(pc.count_substring_regex(texts, _UNSPACED)) >= _SIGNS
    return sentences


def _spaced(texts: pa.StringArray) -> pa.StringArray:
    """Replace every separator between words by a blank."""
    return pc.replace_substring_regex(texts, r"[\p{Z}\s_]+", " ")


def naming(texts: pa.StringArray) -> Mask:
    """Return a mask of the texts that contain an e-mail address or a telephone number beside other words.

    >>> naming(pa.array(["please call 0113 4960000", "a@b.org", "0113 4960000"])).tolist()
    [True, False, False]
    """
    if not _has(texts, r"[@\d]").any():  # every address and every number contains one of these
        return np.zeros(len(texts), bool)
    rest = pc.replace_substring_regex(pc.replace_substring_regex(texts, _ADDRESS, ""), _NUMBER, "")
    return (_has(texts, _ADDRESS) | _has(texts, _NUMBER)) & _has(rest, r"\p{L}{3}")


def _has(texts: pa.StringArray, pattern: str) -> Mask:
    has: Mask = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False).astype(bool)
    return has


def is_free_text(texts: pa.StringArray, counts: NDArray[np.int64]) -> bool:
    """Return whether a column is free text. ``counts``: the number of records per value.

    >>> is_free_text(pa.array(["none", "Her mother Anna Smith called us about it"]), np.array([300, 1]))
    True
    >>> is_free_text(pa.array(["I have no problems in walking about"]), np.array([300]))
    False
    """
    if not len(texts):
        return False
    chosen = np.unique(np.linspace(0, len(texts) - 1, min(len(texts), MOST_VALUES)).astype(np.int64))
    spaces, records = _spaced(texts.take(pa.array(chosen))), counts[chosen]
    if ((speaking(spaces) & (records < _FEW)) | naming(spaces)).any():
        return True
    length = pc.mean(pc.utf8_length(spaces)).as_py()
    words = pc.mean(pc.count_substring_regex(spaces, r"\S+")).as_py()
    return bool(length >= _LONG and words >= _WORDS and len(texts) > _RARELY * counts.sum())
