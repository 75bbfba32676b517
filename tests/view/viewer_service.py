"""A viewer that really listens, on a world without weights, and a small client for it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import contextmanager

from fakes import make_planner

from chronoforest.view.guard import Guard
from chronoforest.view.server import ViewerServer, create_app, listen
from chronoforest.view.world import ServedPreset
from chronoforest.view.worlds import Worlds

PROBLEM = {"starts": [[3, 3]], "goals": [[17, 17]], "waypoints": [[3, 17]]}
LONG = {**PROBLEM, "waypoints": [[3, 17], [17, 3], [10, 10], [3, 10]], "variant": "online"}
"""Trees take many rounds for it."""


class SlowPlanner:
    """Plans as the one it wraps, but takes its time for every round."""

    def __init__(self, planner, pause):
        self.planner, self.pause = planner, pause

    def __getattr__(self, name):
        return getattr(self.planner, name)

    def plan(self, problem, *, on_snapshot=None, **options):
        def watched(snapshot):
            time.sleep(self.pause)
            if on_snapshot is not None:
                on_snapshot(snapshot)

        return self.planner.plan(problem, on_snapshot=watched, **options)


class Service:
    """Requests to a running viewer; `app.state.jobs` lets a test look inside."""

    def __init__(self, port, app):
        self.port, self.app, self.jobs = port, app, app.state.jobs
        self.address = f"http://127.0.0.1:{port}/"

    def ask(self, method, path, body=None, headers=None):
        """Status and parsed JSON (or text); `body` may be bytes or anything that JSON knows."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        kind = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, path, body, {**kind, **(headers or {})})
        answer = connection.getresponse()
        text = answer.read().decode()
        self.headers = dict(answer.getheaders())
        connection.close()
        is_json = answer.getheader("content-type", "").startswith("application/json")
        return answer.status, json.loads(text) if is_json else text

    def open_events(self, path, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", path, headers=headers or {})
        return connection, connection.getresponse()

    def events(self, path, headers=None):
        """All events until the stream ends, as (id, kind, data)."""
        connection, answer = self.open_events(path, headers)
        text = answer.read().decode()
        connection.close()
        return [parse(block) for block in text.split("\n\n") if block.startswith("id:")]

    def settle(self, condition, seconds=15.0):
        """Wait until something is so; False when it never is."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.02)
        return False


def parse(block):
    fields = dict(line.split(": ", 1) for line in block.split("\n"))
    return int(fields["id"]), fields["event"], json.loads(fields["data"])


@contextmanager
def running(planners=None, limits=None, worlds=None):
    """Serve while the block runs: one world with planners by mode, or several worlds."""
    listener = listen(0)
    listener.listen()
    port = listener.getsockname()[1]
    served = ServedPreset(planners or {"default": make_planner()})
    app = create_app(worlds or Worlds.of(served), limits)
    server = ViewerServer(Guard(app, port), app.state.jobs)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    service = Service(port, app)
    assert service.settle(lambda: server.started)
    try:
        yield service
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()
