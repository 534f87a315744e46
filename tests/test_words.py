"""Every text that a person reads uses the terms of the field, and is spelled right.

``words.txt`` lists the words of the project. A new word is added to it once somebody has looked at its spelling:

    python tests/test_words.py
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "shoal"
LISTED = Path(__file__).with_name("words.txt")
# What nobody should have to decipher: everyday verbs, circumlocutions and relative clauses without a noun.
RIDDLES = [
    r"\bleft out\b",
    r"\bleaves? out\b",
    r"\bstands? alone\b",
    r"\blooks? alike\b",
    r"\bgiv(es|en) .*\baway\b",
    r"\bcoarser than\b",
    r"\bmade coarser\b",
    r"\b[Ww]hoever\b",
    r"\b[Ss]omebody\b",
    r"\b[Nn]obody\b",
    r"\b[Ee]verybody\b",
    r"\bsays (whose|which|what)\b",
    r"\bits name says\b",
    r"\bnothing says what it is\b",
    r"\bk coarser\b",
    r"\bIf everybody is tried\b",
    r"\bwhat there is to lose\b",
    r"\bschemes than can be numbered\b",
    r"\bmatched not at all\b",
    r"\b(surely|for sure)\b",
    r"\bcome to the same\b",
    r"\banything would do\b",
    r"\bwill do\b",
    r"\bTake away\b",
    r"\bWhom the table is a sample of\b",
    r"\bis found out\b",
    r"\bquestions (is|are) answered\b",
    r"\bparts of classes share persons\b",
    r"\b(is|are) taken for\b",
    r"\bnot told\b",
    r"\bmatches another missing value\b",
    r"^(What|Who|Where|So) [a-z ]+[^?]$",
]
CODE = re.compile(r"\\[dwsp(]|SELECT|TABLE|^[A-Z]\w+ \|")  # patterns, queries and types
MARKS = re.compile(r"\{[%{#].*?[%}#]\}|<[^>]*>|```.*?```|`[^`]*`", re.DOTALL)  # of pages, which are no text
OLD = [
    "nothing says what it is: on the safe side",
    "its name says birth date (en)",
    "If everybody is tried, about 4,998.0 of 5,000 are found.",
    "0.2396 of what there is to lose, by loss, as it was searched for",
    "There are more schemes than can be numbered.",
    "Records are matched not at all: the release has 3 records fewer.",
    "Not surely better than without the release.",
    "Do analyses come to the same?",
    "A missing value matches another missing value (own).",
    "The policy requires nothing, so anything would do.",
    "Take away",
    "the fewest persons that look alike to who knows all quasi-identifiers",
    "WP216: 2 of 3 questions are answered yes, 1 no, 0 not at all",
]
EXAMPLE = re.compile(r">>> .*?(?=\n[ ]*\n|\Z)|``.*?``|:\w+:`[^`]*`", re.DOTALL)  # code in docstrings
SCIENTIFIC = re.compile(r"\d[eE][+-]\d")


@cache
def shown() -> tuple[tuple[str, str], ...]:
    """Return every text of the product, its documentation and its docstrings, with its place."""
    pages = [path for suffix in ("html", "txt", "toml") for path in sorted(SOURCE.rglob(f"*.{suffix}"))]
    pages = [path for path in pages if path.parent.name != "words"]  # vocabularies, which nobody reads as texts
    guides = [
        *sorted(ROOT.glob("docs/*.md")),
        *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")),
    ]
    sources = [text for path in sorted(SOURCE.rglob("*.py")) for text in _of_source(path)]
    return *sources, *(text for path in (*pages, *guides) for text in _of_page(path))


def _of_source(path: Path) -> Iterator[tuple[str, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented) and _documents(node)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        text = EXAMPLE.sub(" ", node.value) if id(node) in docstrings else node.value
        if " " in text.strip() and not CODE.search(text):
            yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def _documents(node: ast.AST) -> bool:
    body = getattr(node, "body", [])
    return bool(body) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)


def _of_page(path: Path) -> Iterator[tuple[str, str]]:
    text = MARKS.sub(" ", path.read_text(encoding="utf-8"))
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield f"{path.relative_to(ROOT)}:{number}", line


def words() -> set[str]:
    """Return the words of all texts, in small letters."""
    texts = (re.sub(r"\{[^{}]*\}|https?://\S+|\[[^\]]*\]|\w+\.\w+", " ", text) for _, text in shown())
    return {word.lower() for text in texts for word in re.findall(r"(?<![\w-])[A-Za-z]{4,}(?![\w=(])", text)}


def test_texts_use_the_terms_of_the_field():
    riddles = re.compile("|".join(f"(?:{riddle})" for riddle in RIDDLES))
    assert [(place, text) for place, text in shown() if riddles.search(text)] == []


@pytest.mark.parametrize("sentence", OLD)
def test_old_sentences_are_caught(sentence):
    assert any(re.search(riddle, sentence) for riddle in RIDDLES)


def test_numbers_are_never_in_scientific_notation():
    assert [place for place, text in shown() if SCIENTIFIC.search(text)] == []


def test_every_word_is_listed():
    known = set(LISTED.read_text(encoding="utf-8").split())
    assert sorted(words() - known) == [], "Check the spelling, and run: python tests/test_words.py"


if __name__ == "__main__":
    LISTED.write_text("\n".join(sorted(words())) + "\n", encoding="utf-8")
