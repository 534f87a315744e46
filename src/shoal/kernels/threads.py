"""Threads for kernels: a persistent pool, because starting a thread takes longer than many of the tasks."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar, cast

T = TypeVar("T")


@cache
def pool() -> ThreadPoolExecutor:
    """Return the shared thread pool."""
    return ThreadPoolExecutor(max(os.cpu_count() or 1, 2), thread_name_prefix="shoal")


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=pool.cache_clear)


def ahead(items: Iterator[T]) -> Iterator[T]:
    """Produce the next item in the background while the current one is processed.

    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="shoal-ahead") as thread:
        coming = thread.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = thread.submit(next, items, end)
            yield cast("T", item)


def in_threads(
    run: Callable[[int], None], tasks: Sequence[int], threads: int, progress: Callable[[int, int], None]
) -> None:
    """Run tasks in order; an exception raised by ``progress`` ends the run after the tasks already started.

    >>> seen = []
    >>> in_threads(seen.append, range(3), 1, lambda done, total: None)
    >>> seen
    [0, 1, 2]
    """
    if threads == 1 or len(tasks) == 1:
        for done, task in enumerate(tasks):
            progress(done, len(tasks))
            run(task)
        return
    started: list[Future[None]] = []
    try:
        started.extend(pool().submit(run, task) for task in tasks)
        for done, future in enumerate(started):
            progress(done, len(tasks))
            future.result()
    finally:
        for future in started:
            future.cancel()
        wait(started)
