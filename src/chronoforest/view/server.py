"""The local web service: one page, and an interface that other programs can use too."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI, Header, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from chronoforest.errors import Busy, CannotListen, ChronoForestError, InvalidParameter, UnknownJob
from chronoforest.view.answers import add_answers
from chronoforest.view.guard import Guard
from chronoforest.view.jobs import Job, JobLimits, Jobs, Work
from chronoforest.view.many import PlansRequest, planning_many
from chronoforest.view.requests import Accepted, PlanRequest, Refusal, sentence
from chronoforest.view.world import ServedPreset
from chronoforest.view.worlds import Worlds

STATIC = Path(__file__).parent / "static"
LOOPBACK = "127.0.0.1"
BEATS_PER_COMMENT = 20

IDLE_SECONDS = 10.0
"""How long a connection may take to begin a request."""

CLOSING_SECONDS = 0.5
"""How long a connection may take to end when the viewer does."""

SEEN_SECONDS = 30.0
"""How long loading waits for somebody to look at the world first."""

REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Refusal, "description": "the problem cannot be planned for"},
    404: {"model": Refusal, "description": "no such plan"},
    409: {"model": Refusal, "description": "the session plans already, or the queue is full"},
    413: {"model": Refusal, "description": "the request is too large"},
    422: {"model": Refusal, "description": "the request is malformed"},
}
STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "server-sent events"},
    404: REFUSALS[404],
}


def create_app(worlds: Worlds, limits: JobLimits | None = None) -> FastAPI:
    """The service without its guard; `app.state.jobs` is its queue."""
    jobs = Jobs(limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        jobs.submit("warm-up", _preparing(worlds))
        yield
        jobs.close()

    app = FastAPI(
        title="ChronoForest viewer",
        version=version("chronoforest"),
        summary="Plans routes and tells every round as it happens.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.jobs = jobs
    _answer_with_sentences(app)
    _add_planning(app, worlds, jobs)
    _add_walking(app, jobs)
    _add_events(app, jobs)
    add_answers(app, worlds, jobs)
    _add_pages(app)
    return app


def _preparing(worlds: Worlds) -> Work:
    """Work that loads the opened world, once somebody has seen it, and makes its planners ready: importing
    torch at the same time would keep the page waiting."""

    def work(job: Job) -> None:
        if not worlds.is_loaded:
            worlds.is_seen.wait(SEEN_SECONDS)
        served = worlds.served()
        from chronoforest.view.work import warming_up

        warming_up(served.planners.values(), json.loads(worlds.describe())["example"])(job)

    return work


def _add_planning(app: FastAPI, worlds: Worlds, jobs: Jobs) -> None:
    @app.post("/api/plan", status_code=202, responses=REFUSALS)
    async def plan(request: PlanRequest) -> Accepted:
        """Queue a plan. Follow its events at once: a job that nobody follows is cancelled."""
        served = await run_in_threadpool(worlds.served, request.preset)
        from chronoforest.view.work import planning

        job = jobs.submit(request.session, planning(served.planner(request.mode), request))
        return Accepted(id=job.id, events=f"/api/plans/{job.id}/events")

    @app.post("/api/plans", status_code=202, responses=REFUSALS)
    async def plan_many(request: PlansRequest) -> Accepted:
        """Queue plans for many problems; their events are `plan` or `refused`, each with the number of its
        problem, and `done`. Follow them at once: a job that nobody follows is cancelled."""
        served = await run_in_threadpool(worlds.served, request.preset)
        job = jobs.submit(request.session, planning_many(served.planner(request.mode), request))
        return Accepted(id=job.id, events=f"/api/plans/{job.id}/events")

    @app.delete("/api/plans/{job_id}", status_code=204, responses={404: REFUSALS[404]})
    async def cancel(job_id: str) -> Response:
        """Cancel a plan or a walk, at once."""
        jobs.cancel(jobs.get(job_id))
        return Response(status_code=204)


def _add_walking(app: FastAPI, jobs: Jobs) -> None:
    @app.post("/api/plans/{job_id}/walk", status_code=202, responses=REFUSALS)
    async def walk(job_id: str) -> Accepted:
        """Walk a finished plan in its environment, where there is one."""
        from chronoforest.view.work import require_planned, walking

        job = jobs.get(job_id)
        planned = require_planned(job)
        why_not = ServedPreset({"default": planned.planner}).scene.why_no_walk
        if why_not:
            raise InvalidParameter(f"cannot walk: {why_not}")
        job = jobs.submit(job.session, walking(planned))
        return Accepted(id=job.id, events=f"/api/walks/{job.id}/events")


def _add_events(app: FastAPI, jobs: Jobs) -> None:
    @app.get("/api/plans/{job_id}/events", responses=STREAM, response_class=StreamingResponse)
    @app.get("/api/walks/{job_id}/events", responses=STREAM, response_class=StreamingResponse)
    async def events(
        job_id: str, request: Request, last_event_id: str | None = Header(None)
    ) -> StreamingResponse:
        """Of a plan: `start` where trees begin with a guess, `round` for every round, `plan` with plan.json.
        Of a walk: `agent` with each agent's track. Then, of both, `done`, `failed` or `cancelled`."""
        return _stream(jobs, jobs.get(job_id), request, last_event_id)


def _add_pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")


def _stream(jobs: Jobs, job: Job, request: Request, last_event_id: str | None) -> StreamingResponse:
    """Server-sent events from where the reader left off."""
    is_number = last_event_id is not None and last_event_id.isascii() and last_event_id.isdigit()
    num_known = int(last_event_id[:9]) + 1 if is_number and last_event_id else 0

    async def events() -> AsyncIterator[str]:
        number, beats = num_known, 0
        async for batch in jobs.follow(job, num_known):
            for event in batch:
                yield f"id: {number}\nevent: {event.kind}\ndata: {event.data}\n\n"
                number += 1
            beats += 1
            if await request.is_disconnected():
                return
            if not batch and beats % BEATS_PER_COMMENT == 0:
                yield ": still here\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


def _answer_with_sentences(app: FastAPI) -> None:
    """Every error is {"error": sentence}; nobody sees a traceback."""

    def refuse(status: int, reason: str) -> JSONResponse:
        return JSONResponse({"error": reason.encode("ascii", "replace").decode()}, status)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        return refuse(422, sentence(error.errors()))

    @app.exception_handler(ChronoForestError)
    async def refused(_: Request, error: ChronoForestError) -> JSONResponse:
        status = {UnknownJob: 404, Busy: 409}.get(type(error), 400)
        return refuse(status, str(error))

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> JSONResponse:
        return refuse(error.status_code, f"{request.method} {request.url.path[:80]}: {error.detail}")

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        return refuse(500, f"this should not happen: {type(error).__name__}; please report it")


def listen(port: int) -> socket.socket:
    """A socket on loopback; port 0 takes any free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise CannotListen(f"cannot listen on port {port}: {reason}; --port 0 takes any free one") from error
    return listener


class BoundedConnection(H11Protocol):
    """A connection that is closed when no request has begun in IDLE_SECONDS; uvicorn alone would wait for the
    first one for ever."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._expect_request_after(None)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        answered = self.cycle
        super().on_response_complete()
        self._expect_request_after(answered)

    def _expect_request_after(self, answered: RequestResponseCycle | None) -> None:
        def close_if_idle() -> None:
            if self.cycle is answered:
                self.transport.close()

        self.loop.call_later(IDLE_SECONDS, close_if_idle)


class ViewerServer(uvicorn.Server):
    """Ends alike by ctrl-C and by SIGTERM: open streams are told that their job is cancelled, and whoever
    does not listen even then is cut off."""

    def __init__(self, app: ASGIApp, jobs: Jobs) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=BoundedConnection,
                log_level="warning",
                access_log=False,
                server_header=False,
                ws="none",
                timeout_graceful_shutdown=1,
            )
        )
        self.jobs = jobs

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Uvicorn would raise the signal again when everything has ended well."""
        self.force_exit, self.should_exit = self.should_exit, True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Jobs first, because streams last as long as they do."""
        self.jobs.close()
        asyncio.get_running_loop().call_later(CLOSING_SECONDS, self._cut_off)
        await super().shutdown(sockets)

    def _cut_off(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def serve(worlds: Worlds, listener: socket.socket, on_ready: Callable[[str], None]) -> None:
    """Serve until ctrl-C or SIGTERM; `on_ready` is told the page's address once connections are accepted."""
    port = listener.getsockname()[1]
    listener.listen()
    app = create_app(worlds)
    on_ready(f"http://{LOOPBACK}:{port}/")
    with suppress(KeyboardInterrupt):
        ViewerServer(Guard(app, port), app.state.jobs).run(sockets=[listener])
