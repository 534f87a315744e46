"""The public surface: exactly what is meant, and light to import."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

import shoal
from shoal import errors
from shoal.errors import ShoalError

HEAVY = ("numpy", "pyarrow", "pydantic", "narwhals", "rich", "typer")


def loaded_after(code):
    check = f"import sys; {code}; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    return subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout.split()


def test_import_is_light():
    assert loaded_after("import shoal") == []


def test_the_command_line_is_light():
    assert set(loaded_after("import shoal.cli")) <= {"typer", "rich", "pydantic"}


NAMES = [
    "Advice", "AlsoKnown", "Assessment", "Attacked", "Comparison", "Dataset", "DatasetIdentification",
    "DatasetResult", "Dimension", "FormComparison", "Frontier", "Identification", "People", "Plan", "Policy",
    "QueryError", "Release", "Report",
    "Schemes", "ShoalError", "Table", "TechniqueComparison", "ValueMap", "__version__", "advise", "also_known",
    "anonymize", "assess", "attack", "charts", "compare", "compare_forms", "compare_techniques", "demo",
    "dimension", "errors",
    "frontier", "identify", "measures", "peers", "plan", "query_error", "read", "report", "schemes", "write",
]  # fmt: skip
MODEL_FUNCTIONS = [
    "alpha_k_anonymity", "average_risk", "basic_beta_likeness", "delta_disclosure", "delta_presence",
    "enhanced_beta_likeness", "entropy_l_diversity", "guarding_nodes",
    "k_anonymity", "k_map", "ke_anonymity", "l_diversity",
    "lkc_privacy", "p_alpha_sensitive_k_anonymity", "p_plus_sensitive_k_anonymity", "p_sensitive_k_anonymity",
    "personal_k_anonymity",
    "recursive_l_diversity", "sample_uniqueness", "subset_k_anonymity", "t_closeness", "xy_anonymity",
    "xy_linkability",
]  # fmt: skip


def test_the_public_surface_is_exactly_this():
    """A name that appears or goes is a decision: it changes this list, the reference and the changelog."""
    assert shoal.__all__ == NAMES
    assert dir(shoal) == sorted([*NAMES, *MODEL_FUNCTIONS])
    for name in dir(shoal):
        assert getattr(shoal, name) is not None


CLASSES = [name for name in NAMES if isinstance(getattr(shoal, name), type)]


@pytest.mark.parametrize("name", [name for name in CLASSES if name != "ShoalError"])
def test_public_classes_say_where_users_find_them(name):
    thing = getattr(shoal, name)
    assert (thing.__module__, thing.__qualname__) == ("shoal", name)


@pytest.mark.parametrize("name", [name for name in CLASSES if name != "ShoalError"])
def test_examples_of_public_classes_run(name):
    """Doctest takes a class of another module for an import and skips it."""
    home = sys.modules[shoal._HOMES[name]]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for examples in doctest.DocTestFinder().find(getattr(shoal, name), name, module=home):
        assert runner.run(examples).failed == 0, examples.name


def test_the_stub_is_up_to_date():
    """Editors and type checkers see what there is: python stub.py writes it."""
    root = Path(__file__).parents[1]
    made = subprocess.run(
        [sys.executable, "-c", "import stub; print(stub.text(), end='')"],
        cwd=root, capture_output=True, text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    assert (root / "src/shoal/__init__.pyi").read_text(encoding="utf-8") == made.stdout


def test_names_that_are_not_there():
    assert not hasattr(shoal, "utils")


def test_the_tree_of_errors_is_drawn_as_it_is():
    """The docstring shows every class that there is."""
    for name, thing in vars(errors).items():
        if isinstance(thing, type) and issubclass(thing, ShoalError):
            assert name in errors.__doc__
