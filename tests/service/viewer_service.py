"""A service that really listens, on a world without weights, and a small client for it."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import contextmanager

from fakes import make_planner

from chronoforest.cancellation import step
from chronoforest.peers.choice import PlannerChoice
from chronoforest.service.guard import Guard
from chronoforest.service.server import Server, create_app, listen
from chronoforest.service.worlds import World, Worlds

PROBLEM = {"starts": [[3, 3]], "goals": [[17, 17]], "waypoints": [[3, 17]]}
LONG = {**PROBLEM, "waypoints": [[3, 17], [17, 3], [10, 10], [3, 10]], "variant": "online"}
"""Trees take many rounds for it."""


class SlowPlanner:
    """Plans as the one it wraps, but takes its time for every round of the variant `online`, and stays in its
    first round while `hold` is set, unless it is cancelled."""

    hold = threading.Event()

    def __init__(self, planner, pause):
        self.planner, self.pause = planner, pause

    def __getattr__(self, name):
        return getattr(self.planner, name)

    def plan(self, problem, *, variant, on_snapshot=None, **options):
        def watched(snapshot):
            if variant == "online":
                time.sleep(self.pause)
            on_snapshot(snapshot)
            while variant == "online" and self.hold.is_set():
                step()
                time.sleep(0.02)

        watch = None if on_snapshot is None else watched
        return self.planner.plan(problem, variant=variant, on_snapshot=watch, **options)


def worlds_of(*worlds):
    """Worlds that are there already, the opened one first."""
    known = {world.name: world for world in worlds}
    served = Worlds(PlannerChoice(worlds[0].name), lambda choice: known[choice.preset])
    served._choices |= {name: PlannerChoice(name) for name in known}
    return served


class Service:
    """Requests to a running service; `desk` lets a test look inside."""

    def __init__(self, port, app):
        self.port, self.desk = port, app.state.desk
        self.address = f"http://127.0.0.1:{port}/"

    def ask(self, method, path, body=None, headers=None):
        """Status and parsed JSON (or text); `body` may be bytes or anything that JSON knows."""
        connection, answer = self.open(method, path, body, headers)
        text = answer.read().decode()
        self.headers = dict(answer.getheaders())
        connection.close()
        is_json = answer.getheader("content-type", "").startswith("application/json")
        return answer.status, json.loads(text) if is_json else text

    def open(self, method, path, body=None, headers=None):
        """A connection and the beginning of its answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        kind = {"Content-Type": "application/json"} if body is not None else {}
        connection.request(method, path, body, {**kind, **(headers or {})})
        return connection, connection.getresponse()

    def lines(self, path, body):
        """What a stream tells until it ends."""
        status, text = self.ask("POST", path, body)
        assert status == 200
        return [json.loads(line) for line in text.splitlines()]

    def settle(self, condition, seconds=60.0):
        """Wait until something is so; False when it never is."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.02)
        return False


@contextmanager
def running(planner=None, worlds=None):
    """Serve while the block runs: one world, or several."""
    listener = listen(0)
    listener.listen()
    port = listener.getsockname()[1]
    app = create_app(worlds or worlds_of(World("fake", planner or make_planner())))
    server = Server(Guard(app, port), app.state.desk)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    service = Service(port, app)
    assert service.settle(lambda: server.started)
    try:
        yield service
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        listener.close()
