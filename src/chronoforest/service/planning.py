"""Plans and walks as they are asked for, on a thread of their own: one at a time, each told as it goes, and
ended when the one who asked is gone."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from chronoforest.cancellation import checked
from chronoforest.errors import Busy, ChronoForestError, InvalidParameter
from chronoforest.planning.planner import Planner
from chronoforest.planning.result import PlanResult
from chronoforest.search.tree import ForestMemory
from chronoforest.service.closures import plan_around
from chronoforest.service.requests import PlanRequest
from chronoforest.service.worlds import Worlds, flat
from chronoforest.types import FloatArray, Pair, Plan, Snapshot

log = logging.getLogger(__name__)

Line = dict[str, Any]
"""What is told of a job: its `kind` and more."""


class Cancelled(Exception):
    """The one who asked is gone."""


class Job:
    """A piece of work and the lines that it tells; iterating over it ends the work when the reader leaves."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[Line | ChronoForestError | None] = asyncio.Queue()
        self._is_cancelled = threading.Event()

    def tell(self, line: Line | ChronoForestError | None) -> None:
        """From the work's thread: a line, why it ended, or None at its end."""
        with suppress(RuntimeError):  # the server is gone
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    def check(self) -> None:
        """From the work's thread: raise `Cancelled` when it is wanted no more; to be called often."""
        if self._is_cancelled.is_set():
            raise Cancelled

    def cancel(self) -> None:
        """End the work at its next check, and its reader now."""
        self._is_cancelled.set()
        self._lines.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[Line]:
        try:
            while (line := await self._lines.get()) is not None:
                if isinstance(line, ChronoForestError):
                    raise line
                yield line
        finally:
            self._is_cancelled.set()


class Desk:
    """The thread that plans; most_jobs: that wait or run."""

    def __init__(self, most_jobs: int = 8) -> None:
        self.most_jobs = most_jobs
        self._jobs: set[Job] = set()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="planning")

    def __len__(self) -> int:
        return len(self._jobs)

    def submit(self, work: Callable[[Job], None]) -> Job:
        """Queue work, unless too much of it waits."""
        if len(self._jobs) >= self.most_jobs:
            raise Busy(f"{len(self._jobs)} plans are waiting already; try again in a moment")
        job = Job()
        self._jobs.add(job)
        self._thread.submit(self._run, job, work)
        return job

    def close(self) -> None:
        """Cancel everything."""
        for job in list(self._jobs):
            job.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _run(self, job: Job, work: Callable[[Job], None]) -> None:
        end: ChronoForestError | None = None
        try:
            with checked(job.check):
                job.check()
                work(job)
        except Cancelled:
            pass
        except ChronoForestError as error:
            end = error
        except Exception as error:
            log.exception("a job failed")
            end = ChronoForestError(f"this should not happen: {error!r}; please report it")
        self._jobs.discard(job)
        job.tell(end)


@dataclass(frozen=True)
class Planned:
    """A plan, its rounds as they were told, and what walking it needs."""

    planner: Planner
    result: PlanResult
    memory: ForestMemory
    rounds: list[Line]


class Plans:
    """Plans over the worlds that are served; the last ones are kept, so that they can be saved and walked.

    Called from the thread that plans, and only there.
    """

    def __init__(self, worlds: Worlds, num_kept: int = 8) -> None:
        self.worlds, self.num_kept = worlds, num_kept
        self._kept: dict[str, Planned] = {}

    def plan(self, request: PlanRequest, job: Job) -> Planned:
        """The plan for a request; `round` is told of every round."""
        planner = self.worlds.world(request.preset).planner
        kept = self._kept.get(request.key)
        if kept is not None and kept.planner is planner:
            for line in kept.rounds:
                job.tell(line)
            return kept
        memory, encoder = ForestMemory(), RoundEncoder(planner.models.support.cell)
        rounds: list[Line] = []

        def watch(snapshot: Snapshot) -> None:
            rounds.append({"kind": "round", **encoder.encode(snapshot)})
            job.tell(rounds[-1])

        plan = partial(plan_around, planner, request.exclude) if request.exclude else planner.plan
        result = plan(
            request.problem(),
            seed=request.seed,
            variant=request.variant,
            snap=request.snap,
            depart=request.depart or None,
            stop=request.budget.stop() if request.budget else None,
            on_snapshot=watch,
            memory=memory,
        )
        self._kept[request.key] = planned = Planned(planner, result, memory, rounds)
        for key in list(self._kept)[: -self.num_kept]:
            del self._kept[key]
        return planned

    def answer(self, request: PlanRequest, job: Job) -> None:
        """Tell a plan in the format that was asked for."""
        result = self.plan(request, job).result
        if request.answer == "rounds":
            job.tell({"kind": "plan", **shown(result)})
        else:
            job.tell({"kind": "file", "text": getattr(result, f"to_{request.answer}")()})

    def walk(self, request: PlanRequest, job: Job) -> None:
        """Walk a plan in its environment, where there is one; `agent` is told of each agent's walk."""
        from chronoforest.envs.bodies import AntKinematics
        from chronoforest.execution.journey import walk_plan
        from chronoforest.execution.rollout import POSE_STRIDE
        from chronoforest.execution.route import WalkingPlanner

        if why := self.worlds.world(request.preset).why_no_walk:
            raise InvalidParameter(f"cannot walk: {why}")
        planned = self.plan(request, job)
        body = None
        for rollout in walk_plan(
            cast("WalkingPlanner", planned.planner), planned.result, planned.memory, seed=request.seed
        ):
            limbs = None
            if rollout.has_poses:
                body = body or AntKinematics()
                limbs = {"stride": POSE_STRIDE, **_limbs(body, rollout.poses)}
            track = {"xy": flat(rollout.xy, 2), "limbs": limbs, "summary": rollout.summary()}
            job.tell({"kind": "agent", **track})


def _limbs(body: Callable[[FloatArray], Any], poses: FloatArray) -> Line:
    """radii of the capsules, and for every pose their ends x, y, x, y, … as seen from the torso."""
    seen = [body(pose) for pose in poses]
    ends = [flat(limbs.ends[:, :, :2] - pose[:2], 3) for limbs, pose in zip(seen, poses, strict=True)]
    return {"radii": np.round(seen[0].radii, 3).tolist(), "ends": ends}


def shown(result: PlanResult) -> Line:
    """What the page shows of a plan: its timetable, and its routes in the plane of its frame."""
    names = ("complete", "length", "seconds", "shortfalls", "notices", "variant", "num_expanded")
    table = result.timetable
    stops = [{**asdict(stop), "clock": table.time(stop)} for stop in table]
    return {
        **{name: getattr(result, name) for name in names},
        "problem": result.problem.to_dict(),
        "routes": [_route(result, route) for route in result.routes],
        "timetable": stops,
        "unit": table.unit,
        "time_unit": table.time_unit,
    }


def _route(result: PlanResult, route: Plan) -> Line:
    names = ("source", "target", "is_met", "evidence")
    legs = [{name: getattr(leg, name) for name in names} for leg in route.legs]
    return {
        "order": route.order,
        "legs": legs,
        "stops": [int(row) for row in route.stops],
        "path": flat(result.frame.to_local(route.path), 2),
        "times": np.round(route.times, 2).tolist(),
        "length": route.length,
        "duration": route.duration,
    }


class RoundEncoder:
    """Rounds as small JSON values: every segment, meeting and path is sent once; one for each plan."""

    def __init__(self, cell: float) -> None:
        """cell: of the support; a tenth of it is still told apart."""
        self._decimals = max(2, int(np.ceil(1 - np.log10(cell))))
        self._segments: set[tuple[str, bytes]] = set()
        self._sent: dict[tuple[str, Pair], FloatArray] = {}

    def encode(self, snapshot: Snapshot) -> Line:
        """What is new since the last snapshot, with the round's record.

        trees: [anchor, [x, y, x, y, …]] for each new segment; meetings, paths: [source, target, [x, y, …]];
        proposed: met legs that are not verified. Anchors are rows of the problem's.
        """
        stats, names = snapshot.stats, snapshot.problem.names
        return {
            "route": [list(order) for order in stats.route.orders],
            "cost": round(float(stats.route_cost), 1) if np.isfinite(stats.route_cost) else None,
            "met": _pairs(stats.accepted),
            "proposed": _pairs(leg for leg in stats.accepted if leg in snapshot.proposed),
            "expanded": stats.num_expanded,
            "nodes": stats.num_nodes,
            "seconds": round(stats.seconds, 3),
            "trees": self._new_segments(snapshot, {name: row for row, name in enumerate(names)}),
            "meetings": self._changed("meetings", snapshot.meetings),
            "paths": self._changed("paths", snapshot.paths),
        }

    def _new_segments(self, snapshot: Snapshot, rows: dict[str, int]) -> list[list[Any]]:
        """Every second frame of each segment, up to where it stays, which depends on its neighbours."""
        found = []
        for tree in snapshot.trees:
            for segment in tree.segments:
                is_elsewhere = (segment != segment[-1]).any(axis=1)
                moving = segment[: 2 + np.flatnonzero(is_elsewhere).max(initial=-1)]
                key = tree.anchor, moving.tobytes()
                if key not in self._segments:
                    self._segments.add(key)
                    thinned = np.concatenate([moving[:1], moving[:0:-1][::2][::-1]])
                    found.append([rows[tree.anchor], flat(thinned, self._decimals)])
        return found

    def _changed(self, what: str, now: Any) -> list[list[Any]]:
        """Entries that are not known yet; they are from now on."""
        fresh = []
        for pair, way in now.items():
            if not np.array_equal(self._sent.get((what, pair), ()), way):
                self._sent[what, pair] = way
                fresh.append([pair.source, pair.target, flat(way, self._decimals)])
        return fresh


def _pairs(pairs: Iterable[Pair]) -> list[list[int]]:
    return [[pair.source, pair.target] for pair in pairs]


def dumps(values: Any) -> str:
    """Strict JSON on one line; dates as ISO 8601 has them."""
    return json.dumps(values, allow_nan=False, separators=(",", ":"), default=str)
