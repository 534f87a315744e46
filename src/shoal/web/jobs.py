"""Long work in the background: it tells how far it is, can be stopped, and is not done twice."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeAlias

from shoal.errors import Cancelled, ShoalError
from shoal.progress import Hook, Progress
from shoal.reporting.document import Block
from shoal.web.spots import Spotted

Work: TypeAlias = Callable[[Hook], Any]
Told: TypeAlias = Block | Spotted
Tell: TypeAlias = Callable[[Any], Iterable[Told]]
KEPT = 2  # results of a kind that are remembered: each may hold a table


class State(StrEnum):
    """How far a job is."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(eq=False)
class Job:
    """One piece of work. ``key``: what it is about; the same key, the same result. ``blocks``: the result as told."""

    number: int
    name: str
    key: Hashable
    state: State = State.RUNNING
    progress: Progress = field(default_factory=lambda: Progress("starting", 0))
    result: Any = None
    blocks: tuple[Told, ...] = ()
    error: ShoalError | None = None
    begun: float = field(default_factory=time.monotonic)
    _stop: threading.Event = field(default_factory=threading.Event)
    _done: threading.Event = field(default_factory=threading.Event)

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self.begun

    def seen(self) -> "Job":
        """Return it as it is now: who shows it must not find it under way here, and done there."""
        return replace(self)  # the state is read first, and what comes of a job is there before its state says so

    def cancel(self) -> None:
        """Ask it to stop; it does when it next tells how far it is."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait until it is done, at most so long; tell whether it is."""
        return self._done.wait(seconds)

    def hook(self, progress: Progress) -> None:
        """Take note of how far it is."""
        if self._stop.is_set():
            raise Cancelled("stopped", "Stopped.")
        self.progress = progress

    def run(self, work: Work, tell: Tell | None = None) -> None:
        """Do the work, and tell what has come of it: also that may take a while."""
        try:
            result = work(self.hook)
            self.blocks = () if tell is None else tuple(tell(result))
            self.result, self.state = result, State.DONE
        except Cancelled:
            self.state = State.CANCELLED
        except ShoalError as error:
            self.error, self.state = error, State.FAILED
        except BaseException as error:  # noqa: BLE001 - a page must say something, and never a value
            self.error = ShoalError("unexpected", "shoal failed unexpectedly ({type}).", type=type(error).__name__)
            self.state = State.FAILED
        finally:
            self._done.set()


class Jobs:
    """All jobs, by what they are about. Of each kind one is under way at most, and the last results are kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: OrderedDict[tuple[str, Hashable], Job] = OrderedDict()
        self._next = 0

    def start(self, name: str, key: Hashable, work: Work, tell: Tell | None = None, *, anew: bool = False) -> Job:
        """Begin work, or return the job that does the same or has done it; one of the same kind for else is stopped.

        ``anew``: begin it again if it failed or was stopped. Without that, whoever comes back is told so.
        """
        with self._lock:
            known = self._jobs.get((name, key))
            if known is not None and not (anew and known.state in {State.FAILED, State.CANCELLED}):
                self._jobs.move_to_end((name, key))
                return known
            for other in self._jobs.values():
                if other.name == name and other.state is State.RUNNING:
                    other.cancel()
            self._next += 1
            job = self._jobs[name, key] = Job(self._next, name, key)
            self._jobs.move_to_end((name, key))
            self._forget(name)
        threading.Thread(target=job.run, args=(work, tell), name=f"shoal-{name}", daemon=True).start()
        return job

    def find(self, name: str, key: Hashable) -> Job | None:
        """Return what there is about something, without beginning it."""
        with self._lock:
            return self._jobs.get((name, key))

    def numbered(self, number: int) -> Job | None:
        """Return a job by its number."""
        with self._lock:
            return next((job for job in self._jobs.values() if job.number == number), None)

    def forget(self, job: Job) -> None:
        """Stop a job, and do not keep what has come of it."""
        job.cancel()
        with self._lock:
            if self._jobs.get((job.name, job.key)) is job:
                del self._jobs[job.name, job.key]

    def results(self, name: str) -> list[Any]:
        """Return the results of a kind that are remembered."""
        with self._lock:
            return [job.result for job in self._jobs.values() if job.name == name and job.state is State.DONE]

    def running(self) -> list[Job]:
        """Return the jobs that are not done."""
        with self._lock:
            return [job for job in self._jobs.values() if job.state is State.RUNNING]

    def close(self, seconds: float) -> None:
        """Stop everything, and wait for it, at most so long."""
        until = time.monotonic() + seconds
        running = self.running()
        for job in running:
            job.cancel()
        for job in running:
            job.wait(max(until - time.monotonic(), 0))

    def _forget(self, name: str) -> None:
        """Forget the oldest of a kind, unless it is under way."""
        kind = [key for key, job in self._jobs.items() if job.name == name]
        for key in kind[:-KEPT]:
            if self._jobs[key].state is not State.RUNNING:
                del self._jobs[key]
