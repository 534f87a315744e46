"""The public surface: exactly what is meant, and light to import."""

import subprocess
import sys

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


def test_every_public_name_is_there():
    assert shoal.__all__ == sorted(shoal.__all__)
    assert set(shoal.__all__) < set(dir(shoal))
    assert "k_anonymity" in dir(shoal)
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None


def test_names_that_are_not_there():
    assert not hasattr(shoal, "utils")


def test_the_tree_of_errors_is_drawn_as_it_is():
    """The docstring shows every class that there is."""
    for name, thing in vars(errors).items():
        if isinstance(thing, type) and issubclass(thing, ShoalError):
            assert name in errors.__doc__
