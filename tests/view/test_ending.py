"""How a viewer that really runs closes connections, and how it ends."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from viewer_service import LONG

TESTS = Path(__file__).parents[1]
HALF_A_REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1"
SOON = 3.0
"""Seconds; alone on a machine it takes a tenth of one."""


class Viewer:
    """A process, its port and the lines it prints."""

    def __init__(self, idle_seconds):
        script = [sys.executable, str(Path(__file__).with_name("viewer_process.py")), str(idle_seconds)]
        paths = os.pathsep.join([str(TESTS), str(TESTS / "view"), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            script,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        )
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline())[1])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def open_stream(self, session):
        """A plan that takes a while, and the stream of its events, of which the first has come."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        body = json.dumps({**LONG, "session": session})
        connection.request("POST", "/api/plan", body, {"Content-Type": "application/json"})
        accepted = json.load(connection.getresponse())
        connection.request("GET", accepted["events"])
        return connection.getresponse()


@contextmanager
def viewing(idle_seconds=30.0):
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
        read, unread = viewer.open_stream("a"), viewer.open_stream("b")
        assert read.readline().startswith(b"id: 0")
        began = time.monotonic()
        viewer.process.send_signal(end)
        assert viewer.process.stdout.readline() == "the viewer has ended\n"
        assert time.monotonic() - began < SOON  # afterwards Python unloads its libraries
        assert viewer.process.communicate(timeout=20) == ("", "")
        assert viewer.process.returncode == 0
        assert b"event: cancelled" in read.read()
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
    time.sleep(0.3)
    dripping.sendall(HALF_A_REQUEST[5:])
    began = time.monotonic()
    assert (silent.recv(1), dripping.recv(1)) == (b"", b"")
    assert served.recv(12) == b"HTTP/1.1 200"
    while served.recv(65536):
        pass
    assert time.monotonic() - began < SOON


def test_a_stream_is_not_idle_while_its_plan_goes_on(impatient):
    began = time.monotonic()
    told = impatient.open_stream("a").read().decode()
    assert time.monotonic() - began > 0.5
    assert told.endswith("event: done\ndata: {}\n\n")
