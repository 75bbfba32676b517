"""Jobs of the viewer: one at a time, a short queue, each followed as it goes and forgotten when it is over.

Everything here runs on the event loop except the work itself, which has a thread of its own.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from chronoforest.errors import Busy, ChronoForestError, UnknownJob

log = logging.getLogger(__name__)

State = Literal["waiting", "running", "done", "failed", "cancelled"]


class Cancelled(Exception):
    """Nobody wants the work any more."""


@dataclass(frozen=True)
class JobLimits:
    """What the service keeps, and for whom it waits.

    num_waiting: jobs in the queue behind the one that runs; num_finished: finished jobs that are kept, so
    that they can be walked; keep_seconds: for how long; patience: seconds until somebody must follow a new
    job; grace: seconds in which a lost follower may come back.
    """

    num_waiting: int = 4
    num_finished: int = 6
    keep_seconds: float = 3600.0
    patience: float = 20.0
    grace: float = 2.0


@dataclass(frozen=True)
class Event:
    """One message of a job: its kind and its JSON."""

    kind: str
    data: str


class Job:
    """One piece of work of one session; `outcome` is what the work returned, None until it is done.

    The work has a thread of its own, from which it calls `tell` and `check` and nothing else.
    """

    def __init__(self, session: str) -> None:
        self.id = secrets.token_urlsafe(12)
        self.session = session
        self.state: State = "waiting"
        self.events: list[Event] = []
        self.outcome: Any = None
        self.num_followers = 0
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()

    def tell(self, kind: str, data: str) -> None:
        """Publish an event."""
        self.on_loop(self.publish, Event(kind, data), "running")

    def check(self) -> None:
        """Raise `Cancelled` when nobody wants the work any more; call it often."""
        if self.is_over:
            raise Cancelled

    def on_loop(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call from the work's thread; when the server is already gone nobody is left to tell."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be told."""
        return self.state in ("done", "failed", "cancelled")

    def publish(self, event: Event, state: State) -> None:
        """Append an event and wake the followers; after the end nothing more is taken."""
        if self.is_over:
            return
        self.state = state
        self.events.append(event)
        self._news.set()
        self._news = asyncio.Event()

    async def wait(self, num_known: int, seconds: float) -> None:
        """Return when there are more events than that, or after some time."""
        if len(self.events) > num_known or self.is_over:
            return
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return


Work = Callable[[Job], Any]
"""Does a job, tells events, and returns what is kept of it."""


class Jobs:
    """The queue."""

    def __init__(self, limits: JobLimits | None = None) -> None:
        self.limits = limits or JobLimits()
        self._jobs: dict[str, Job] = {}
        self._is_closed = False
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="planning")

    def __len__(self) -> int:
        return len(self._jobs)

    def submit(self, session: str, work: Work) -> Job:
        """Queue work for a session that has none, unless the queue is full."""
        if self._is_closed:
            raise Busy("the viewer is ending; nothing new is planned")
        active = [job for job in self._jobs.values() if not job.is_over]
        for job in active:
            if job.session == session:
                raise Busy(f"this session plans already; cancel {job.id} first or wait for its end")
        if len(active) > self.limits.num_waiting:
            raise Busy(f"{len(active)} plans are waiting already; try again in a moment")
        job = Job(session)
        self._jobs[job.id] = job
        self._worker.submit(self._run, job, work)
        asyncio.get_running_loop().call_later(self.limits.patience, self._cancel_if_alone, job.id)
        return job

    def get(self, job_id: str) -> Job:
        """The job of that id."""
        if job_id not in self._jobs:
            raise UnknownJob(f"there is no plan {ascii(job_id)[1:-1][:40]}; it may be over and forgotten")
        return self._jobs[job_id]

    def cancel(self, job: Job) -> None:
        """End a job at once for everybody who looks; its thread follows at its next check."""
        self._finish(job, Event("cancelled", "{}"), "cancelled", None)

    async def follow(self, job: Job, num_known: int, beat: float = 0.5) -> AsyncIterator[list[Event]]:
        """Events after the first `num_known` as they come, an empty list at least every `beat` seconds.

        A job that nobody follows any more is cancelled.
        """
        job.num_followers += 1
        try:
            while True:
                await job.wait(num_known, beat)
                fresh = job.events[num_known:]
                num_known += len(fresh)
                yield fresh
                if job.is_over and num_known >= len(job.events):
                    return
        finally:
            job.num_followers -= 1
            asyncio.get_running_loop().call_later(self.limits.grace, self._cancel_if_alone, job.id)

    def close(self) -> None:
        """Cancel everything and take nothing more."""
        self._is_closed = True
        for job in list(self._jobs.values()):
            self.cancel(job)
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _run(self, job: Job, work: Work) -> None:
        """In the worker's thread."""
        try:
            job.check()
            job.on_loop(self._finish, job, Event("done", "{}"), "done", work(job))
        except Cancelled:
            return
        except ChronoForestError as error:
            self._fail(job, str(error))
        except Exception as error:
            log.exception("a job failed")
            self._fail(job, f"this should not happen: {error!r}; please report it")

    def _fail(self, job: Job, reason: str) -> None:
        job.on_loop(self._finish, job, Event("failed", json.dumps({"error": reason})), "failed", None)

    def _finish(self, job: Job, event: Event, state: State, outcome: Any) -> None:
        if job.is_over:
            return
        job.outcome = outcome
        job.publish(event, state)
        asyncio.get_running_loop().call_later(self.limits.keep_seconds, self._forget, job.id)
        finished = [job for job in self._jobs.values() if job.is_over]
        for old in finished[: -self.limits.num_finished]:
            self._forget(old.id)

    def _cancel_if_alone(self, job_id: str) -> None:
        job = self._jobs.get(job_id)
        if job is not None and job.num_followers == 0 and not job.is_over:
            log.info("nobody follows %s; it is cancelled", job.id)
            self.cancel(job)

    def _forget(self, job_id: str) -> None:
        """Free the job: timers hold its id only; a follower that still reads keeps it until it has read."""
        self._jobs.pop(job_id, None)
