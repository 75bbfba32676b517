"""What can be asked about problems and plans without planning: the files of a plan, and nearer places."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import FastAPI
from fastapi.responses import Response

from chronoforest.view.jobs import Jobs
from chronoforest.view.requests import PlanRequest, Refusal, Snapped
from chronoforest.view.work import Planned, require_planned
from chronoforest.view.world import ServedPreset

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


def add_answers(app: FastAPI, served: ServedPreset, jobs: Jobs) -> None:
    """The routes."""

    @app.get("/api/plans/{job_id}/plan.{ending}", responses=REFUSALS, response_class=Response)
    async def plan_file(job_id: str, ending: Ending) -> Response:
        """A finished plan as JSON that loads back, GeoJSON, GPX (in degrees only) or CSV."""
        name = f'attachment; filename="plan.{ending}"'
        text = written(require_planned(jobs.get(job_id)), ending)
        return Response(text, media_type=MEDIA_TYPES[ending], headers={"content-disposition": name})

    @app.post("/api/snap", responses={400: REFUSALS[400]})
    async def snap(request: PlanRequest) -> Snapped:
        """The problem with every anchor outside the recordings moved to the nearest place inside."""
        request.require_preset(served.name)
        problem, notices = served.planner(request.mode).snapped(request.problem())
        return Snapped(
            starts=problem.starts.tolist(),
            goals=problem.goals.tolist(),
            waypoints=problem.waypoints.tolist(),
            notices=list(notices),
        )


def written(planned: Planned, ending: Ending) -> str:
    """The text of a plan's file."""
    result = planned.result
    write = {"json": result.to_json, "geojson": result.to_geojson, "gpx": result.to_gpx, "csv": result.to_csv}
    return write[ending]()
