"""Background jobs that report their progress, can be cancelled and are not run twice."""

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
KEPT = 2  # results kept per job name: each may hold a table


class State(StrEnum):
    """State of a job."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(eq=False)
class Job:
    """One unit of background work.

    ``key``: the inputs of the job; jobs with equal keys have equal results. ``blocks``: the result as it is displayed.
    """

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
        """Elapsed time in seconds."""
        return time.monotonic() - self.begun

    def seen(self) -> "Job":
        """Return a snapshot of the job, so that a page does not show different states in different places."""
        return replace(self)  # the state is copied first, and a result is set before its state

    def cancel(self) -> None:
        """Request cancellation. The job stops at its next progress report."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait until the job has ended, for at most the given time, and return whether it has."""
        return self._done.wait(seconds)

    def hook(self, progress: Progress) -> None:
        """Record the progress of the job.

        Raise :class:`~shoal.errors.Cancelled` if cancellation was requested.
        """
        if self._stop.is_set():
            raise Cancelled("stopped", "Stopped.")
        self.progress = progress

    def run(self, work: Work, tell: Tell | None = None) -> None:
        """Do the work, then render the result as blocks, which may also take a while."""
        try:
            result = work(self.hook)
            self.blocks = () if tell is None else tuple(tell(result))
            self.result, self.state = result, State.DONE
        except Cancelled:
            self.state = State.CANCELLED
        except ShoalError as error:
            self.error, self.state = error, State.FAILED
        except BaseException as error:  # noqa: BLE001 - a page must show a message, but never a data value
            self.error = ShoalError("unexpected", "shoal failed unexpectedly ({type}).", type=type(error).__name__)
            self.state = State.FAILED
        finally:
            self._done.set()


class Jobs:
    """All jobs by name and key. At most one job per name runs at a time; the latest results are kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: OrderedDict[tuple[str, Hashable], Job] = OrderedDict()
        self._next = 0

    def start(self, name: str, key: Hashable, work: Work, tell: Tell | None = None, *, anew: bool = False) -> Job:
        """Start a job, or return the existing job with the same name and key.

        A running job with the same name and another key is cancelled. ``anew``: restart the job if it failed or was
        cancelled; otherwise the failed or cancelled job is returned.
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
        """Return the job with this name and key, if there is one, without starting it."""
        with self._lock:
            return self._jobs.get((name, key))

    def numbered(self, number: int) -> Job | None:
        """Return a job by its number."""
        with self._lock:
            return next((job for job in self._jobs.values() if job.number == number), None)

    def forget(self, job: Job) -> None:
        """Cancel a job and discard its result."""
        job.cancel()
        with self._lock:
            if self._jobs.get((job.name, job.key)) is job:
                del self._jobs[job.name, job.key]

    def results(self, name: str) -> list[Any]:
        """Return the stored results of the jobs with this name."""
        with self._lock:
            return [job.result for job in self._jobs.values() if job.name == name and job.state is State.DONE]

    def running(self) -> list[Job]:
        """Return the running jobs."""
        with self._lock:
            return [job for job in self._jobs.values() if job.state is State.RUNNING]

    def close(self, seconds: float) -> None:
        """Cancel all running jobs and wait for them to end, for at most the given time in total."""
        until = time.monotonic() + seconds
        running = self.running()
        for job in running:
            job.cancel()
        for job in running:
            job.wait(max(until - time.monotonic(), 0))

    def _forget(self, name: str) -> None:
        """Discard the oldest jobs with this name, unless they are running."""
        kind = [key for key, job in self._jobs.items() if job.name == name]
        for key in kind[:-KEPT]:
            if self._jobs[key].state is not State.RUNNING:
                del self._jobs[key]
