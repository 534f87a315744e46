"""Registries: components by name. A component is added by adding one file to its package.

A registry belongs to a package. On first access it imports every module of the package, and each module registers its
components.
"""

import pkgutil
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Generic, TypeVar

from shoal.errors import ShoalError, similar

T = TypeVar("T")


class Registry(Generic[T]):
    """Named components of one kind, such as file formats or kinds of hierarchy."""

    def __init__(self, noun: str, package: str) -> None:
        self._noun = noun
        self._package = package
        self._things: dict[str, T] = {}
        self._complete = False
        self._importing = False
        self._lock = threading.RLock()

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers a component under ``name``."""

        def add(thing: T) -> T:
            if name in self._things:
                raise ValueError(f"two things are called {self._noun} '{name}'")
            self._things[name] = thing
            return thing

        return add

    def __getitem__(self, name: str) -> T:
        self._import_all()
        if name not in self._things:
            raise ShoalError(
                "unknown-name", "There is no {noun} '{name}'.", remedy=similar(name, self), noun=self._noun, name=name
            )
        return self._things[name]

    def __iter__(self) -> Iterator[str]:
        self._import_all()
        return iter(sorted(self._things))

    def __len__(self) -> int:
        self._import_all()
        return len(self._things)

    def values(self) -> list[T]:
        """Return the components in the order of their names."""
        return [self[name] for name in self]

    def _import_all(self) -> None:
        if self._complete:
            return
        with self._lock:  # other threads wait for the import; this one may enter again during it
            if self._importing:
                return
            self._importing = True
            package = import_module(self._package)
            for module in pkgutil.iter_modules(package.__path__):
                import_module(f"{self._package}.{module.name}")
            self._complete = True
