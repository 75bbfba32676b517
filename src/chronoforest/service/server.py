"""One web service: OSRM's and VROOM's interfaces over a learned world, plans of problems, and the page."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import uvicorn
from fastapi import Body, FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from chronoforest.errors import Busy, CannotListen, ChronoForestError
from chronoforest.service.guard import Guard
from chronoforest.service.osrm import answer
from chronoforest.service.planning import Desk, Job, Plans, dumps
from chronoforest.service.requests import Asked, Fleet, PlanRequest, sentence
from chronoforest.service.vroom import planned
from chronoforest.service.worlds import Worlds

STATIC = Path(__file__).parent / "static"
LOOPBACK = "127.0.0.1"

IDLE_SECONDS = 10.0
"""How long a connection may take to begin a request."""

CLOSING_SECONDS = 0.5
"""How long a connection may take to end when the service does."""

MEDIA_TYPES = {
    "json": "application/json",
    "geojson": "application/geo+json",
    "gpx": "application/gpx+xml",
    "csv": "text/csv",
}
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"description": "what was asked cannot be; `error` and `message` say why"},
    409: {"description": "too many plans wait"},
}
Body_ = Annotated[Asked, Body()]


def create_app(worlds: Worlds, refresh_seconds: float = 1.0) -> FastAPI:
    """The service without its guard; `app.state.desk` is where it plans."""
    desk, plans = Desk(), Plans(worlds)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async def watch() -> None:
            while True:
                await asyncio.sleep(refresh_seconds)
                await run_in_threadpool(worlds.refresh)

        watching = asyncio.create_task(watch())
        yield
        watching.cancel()
        desk.close()

    app = FastAPI(
        title="ChronoForest",
        version=version("chronoforest"),
        summary="Routes, tables and plans over a world that was learned from recordings.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.desk = desk
    _add_refusals(app)
    _add_plans(app, worlds, desk, plans)
    _add_pages(app, worlds)
    _add_routes(app, worlds)
    return app


def _add_plans(app: FastAPI, worlds: Worlds, desk: Desk, plans: Plans) -> None:
    @app.post("/plan", response_class=Response, responses=REFUSALS)
    async def plan(asked: Body_, request: Request) -> Response:
        """A plan. Vehicles and jobs are answered as VROOM does; starts, goals and waypoints with a plan.json,
        with another file (`answer`), or with all rounds: lines of JSON, each with its `kind`, `round` and at
        the end `plan` or `failed`. Planning ends when the connection does."""
        if isinstance(asked, Fleet):
            return _json(200, await run_in_threadpool(planned, worlds.world().router, asked))
        job = desk.submit(partial(plans.answer, asked))
        if asked.answer == "rounds":
            return _streamed(job)
        text = await _unless_gone(request, _file(job))
        name = f'attachment; filename="plan.{asked.answer}"'
        return Response(text, media_type=MEDIA_TYPES[asked.answer], headers={"content-disposition": name})

    @app.post("/walk", response_class=Response, responses=REFUSALS)
    async def walk(asked: PlanRequest) -> Response:
        """Walk the plan of a problem in its environment: lines of JSON, `round` while it is planned, `agent`
        for each agent's walk, and `failed` where there is no environment."""
        return _streamed(desk.submit(partial(plans.walk, asked)))


def _streamed(job: Job) -> StreamingResponse:
    """The lines of a job as it tells them."""

    async def lines() -> AsyncIterator[str]:
        try:
            async for line in job:
                yield dumps(line) + "\n"
        except ChronoForestError as error:
            yield dumps({"kind": "failed", "error": str(error)}) + "\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


async def _file(job: Job) -> str:
    """The text that a job ends with."""
    text = ""
    async for line in job:
        text = line.get("text", "")
    return text


async def _unless_gone(request: Request, work: Awaitable[str], beat: float = 0.2) -> str:
    """What some work comes to, broken off when the one who asked is gone."""
    task = asyncio.ensure_future(work)
    while not (await asyncio.wait([task], timeout=beat))[0]:
        if await request.is_disconnected():
            task.cancel()
    return "" if task.cancelled() else task.result()


def _add_pages(app: FastAPI, worlds: Worlds) -> None:
    @app.get("/worlds", response_class=Response)
    async def list_worlds() -> Response:
        """The worlds that can be planned in, and which of them was opened."""
        return _json(200, worlds.described())

    @app.get("/world", response_class=Response, responses=REFUSALS)
    async def describe_world(preset: str | None = None) -> Response:
        """A world as the data shows it: extent, density, ways, and what may be asked of the planner."""
        return _json(200, await run_in_threadpool(lambda: worlds.world(preset).description))

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> FileResponse:
        return FileResponse(STATIC / "docs.html")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")


def _add_routes(app: FastAPI, worlds: Worlds) -> None:
    @app.get("/{service}/{number}/{profile}/{coordinates:path}", response_class=Response)
    async def osrm(service: str, number: str, profile: str, coordinates: str, request: Request) -> Response:
        """OSRM's HTTP interface, version 1: route, table, nearest, trip and match. A profile that is the name
        of a world chooses it. Beyond OSRM, `exclude` takes polygon(POLYLINE),… that no way may enter,
        `depart` a time like 2026-01-31T08:30, and every leg has its `evidence` and a `duration_interval`."""
        path = f"{service}/{number}/{profile}/{coordinates}"
        query = request.url.query
        return _json(*await run_in_threadpool(lambda: answer(worlds.router(profile), path, query)))

    @app.get("/{path:path}", include_in_schema=False)
    async def unknown(path: str) -> Response:
        return _json(*answer(worlds.world().router, path, ""))


def _json(status: int, values: Any) -> Response:
    text = json.dumps(values, allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


def _add_refusals(app: FastAPI) -> None:
    """Every error is one sentence, as `error` for us and VROOM's clients and as `message` for OSRM's."""

    def refuse(status: int, reason: str, code: int | str) -> JSONResponse:
        reason = reason.encode("ascii", "replace").decode()
        return JSONResponse({"code": code, "error": reason, "message": reason}, status)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        return refuse(400, sentence(error.errors()), 2)

    @app.exception_handler(ChronoForestError)
    async def refused(_: Request, error: ChronoForestError) -> JSONResponse:
        return refuse(409 if isinstance(error, Busy) else 400, str(error), 3)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> JSONResponse:
        return refuse(error.status_code, f"{request.method} {request.url.path[:80]}: {error.detail}", 2)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        return refuse(500, f"this should not happen: {type(error).__name__}; please report it", 1)


def listen(port: int) -> socket.socket:
    """A socket on loopback; port 0 takes any free one."""
    # Without the protocol by name asyncio leaves small answers to Nagle, who keeps them for 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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


class Server(uvicorn.Server):
    """Ends alike by ctrl-C and by SIGTERM: jobs are cancelled, and connections that stay open are cut off."""

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
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
        self.desk = desk

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Uvicorn would raise the signal again when everything has ended well."""
        self.force_exit, self.should_exit = self.should_exit, True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Jobs first, because streams last as long as they do."""
        self.desk.close()
        asyncio.get_running_loop().call_later(CLOSING_SECONDS, self._cut_off)
        await super().shutdown(sockets)

    def _cut_off(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def serve(
    worlds: Worlds, listener: socket.socket, on_ready: Callable[[str], None], origins: tuple[str, ...] = ()
) -> None:
    """Serve until ctrl-C or SIGTERM; `on_ready` gets the address once connections are accepted; origins: of
    pages elsewhere that may ask too."""
    port = listener.getsockname()[1]
    listener.listen(1024)
    app = create_app(worlds)
    on_ready(f"http://{LOOPBACK}:{port}/")
    with suppress(KeyboardInterrupt):
        Server(Guard(app, port, origins), app.state.desk).run(sockets=[listener])
