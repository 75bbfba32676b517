"""What can be asked without planning: worlds, the files of a plan, and nearer places."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from chronoforest.view.jobs import Job, Jobs
from chronoforest.view.requests import PlanRequest, Refusal, Snapped
from chronoforest.view.rounds import dumps
from chronoforest.view.worlds import Worlds

Ending = Literal["json", "geojson", "gpx", "csv"]

MEDIA_TYPES: dict[Ending, str] = {
    "json": "application/json",
    "geojson": "application/geo+json",
    "gpx": "application/gpx+xml",
    "csv": "text/csv",
}
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Refusal, "description": "the plan is not finished, or has no such file"},
    404: {"model": Refusal, "description": "no such plan"},
}


def add_answers(app: FastAPI, worlds: Worlds, jobs: Jobs) -> None:
    """The routes."""

    @app.get("/api/plans/{job_id}/plan.{ending}", responses=REFUSALS, response_class=Response)
    async def plan_file(job_id: str, ending: Ending) -> Response:
        """A finished plan as JSON that loads back, GeoJSON, GPX (in degrees only) or CSV."""
        name = f'attachment; filename="plan.{ending}"'
        text = written(jobs.get(job_id), ending)
        return Response(text, media_type=MEDIA_TYPES[ending], headers={"content-disposition": name})

    @app.get("/api/worlds", response_class=Response)
    async def list_worlds() -> Response:
        """The worlds that can be planned in, and which of them was opened."""
        return Response(dumps(worlds.list()), media_type="application/json")

    @app.get("/api/world", responses={400: REFUSALS[400]}, response_class=Response)
    async def describe_world(preset: str | None = None) -> Response:
        """A world as the data shows it: extent, density, and what may be asked of the planner."""
        text = await run_in_threadpool(worlds.describe, preset)
        worlds.is_seen.set()
        return Response(text, media_type="application/json")

    @app.get("/api/overlay", response_class=Response)
    async def overlay() -> Response:
        """Lines and points to draw over the opened world, in the plane of its frame."""
        values = worlds.overlay.to_dict() if worlds.overlay else {"lines": [], "points": []}
        return Response(await run_in_threadpool(dumps, values), media_type="application/json")

    @app.post("/api/snap", responses={400: REFUSALS[400]})
    async def snap(request: PlanRequest) -> Snapped:
        """The problem with every anchor outside the recordings moved to the nearest place inside."""
        served = await run_in_threadpool(worlds.served, request.preset)
        problem, notices = served.planner(request.mode).snapped(request.problem())
        return Snapped(
            starts=problem.starts.tolist(),
            goals=problem.goals.tolist(),
            waypoints=problem.waypoints.tolist(),
            notices=list(notices),
        )


def written(job: Job, ending: Ending) -> str:
    """The text of a finished plan's file."""
    from chronoforest.view.work import require_planned

    result = require_planned(job).result
    write = {"json": result.to_json, "geojson": result.to_geojson, "gpx": result.to_gpx, "csv": result.to_csv}
    return write[ending]()
