"""How a service that really runs closes connections, and how it ends."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from viewer_service import LONG

TESTS = Path(__file__).parents[1]
HALF_A_REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1"


class Viewer:
    """A process, its port and the lines it prints."""

    def __init__(self, idle_seconds):
        script = [sys.executable, str(Path(__file__).with_name("viewer_process.py")), str(idle_seconds)]
        paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            script,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        )
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline())[1])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def open_stream(self, seed):
        """The rounds of a plan that takes a while."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        body = json.dumps({**LONG, "seed": seed, "answer": "rounds"})
        connection.request("POST", "/plan", body, {"Content-Type": "application/json"})
        return connection.getresponse()


@contextmanager
def viewing(idle_seconds=60.0):
    viewer = Viewer(idle_seconds)
    try:
        yield viewer
    finally:
        viewer.process.kill()
        viewer.process.communicate()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_open_streams_and_idle_connections_do_not_keep_it_from_ending(end):
    with viewing() as viewer:
        silent, halfway = viewer.connect(), viewer.connect()
        halfway.sendall(HALF_A_REQUEST)
        read, unread = viewer.open_stream(1), viewer.open_stream(2)
        assert json.loads(read.readline())["kind"] == "round"
        viewer.process.send_signal(end)
        assert viewer.process.communicate(timeout=60) == ("the service has ended\n", "")
        assert viewer.process.returncode == 0
        told = [json.loads(line)["kind"] for line in read.read().splitlines()]
        assert "plan" not in told
        assert (silent.recv(1), halfway.recv(1)) == (b"", b"")
        unread.close()


@pytest.fixture(scope="module")
def impatient():
    with viewing(idle_seconds=0.5) as viewer:
        yield viewer


def test_a_connection_on_which_no_request_comes_is_closed(impatient):
    silent, dripping, served = (impatient.connect() for _ in range(3))
    served.sendall(HALF_A_REQUEST + b":%d\r\n\r\n" % impatient.port)
    dripping.sendall(HALF_A_REQUEST[:5])
    assert (silent.recv(1), dripping.recv(1)) == (b"", b"")
    assert served.recv(12) == b"HTTP/1.1 200"
    while served.recv(65536):
        pass


def test_a_stream_is_not_idle_while_its_plan_goes_on(impatient):
    lines = [json.loads(line) for line in impatient.open_stream(3).read().splitlines()]
    assert len(lines) > 4  # of 0.2 s at least each
    assert lines[-1]["kind"] == "plan"
