"""Speed of the service beside OSRM on the same roads: `python -m benchmarks.serving ROADS --osrm FOLDER`.

ROADS is a road network's file (`chronoforest serve` writes NAME.roads.npz beside the recordings), FOLDER the
one called `osrm` in the wheel of osrm-bindings, unpacked. Each server is one process; both answer the same
requests between places at random states. Takes about a minute.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from chronoforest.exports.maps import write_network
from chronoforest.exports.network import Network
from chronoforest.files import write_text
from chronoforest.service.router import Router
from chronoforest.types import FloatArray

PORTS = {"serve": 5181, "osrm": 5182}


@dataclass(frozen=True)
class Load:
    """What is asked of a server; seconds: of many clients at once."""

    num_routes: int = 300
    side: int = 100
    num_tables: int = 5
    num_clients: int = 16
    seconds: float = 10.0
    seed: int = 11


def serving(
    roads: Annotated[Path, tyro.conf.Positional],
    osrm: Path | None = None,
    out: Path = Path("records/serving.json"),
) -> None:
    """Measure the service, and OSRM where its programs are at hand.

    Args:
        roads: a road network's file, in degrees.
        osrm: folder with OSRM's programs in bin and its profiles in share.
        out: where the figures are written.
    """
    network, load = Router.load(roads).network, Load()
    with tempfile.TemporaryDirectory() as folder, served(roads) as (port, _):
        figures = {"hops": network.num_hops, "serve": measured(port, network, load)}
        if osrm is not None:
            with routed(network, osrm, Path(folder)) as other:
                figures["osrm"] = measured(other, network, load)
    figures["tiled"] = loaded(network)
    write_text(out, json.dumps(figures, indent=1))
    print(json.dumps(figures, indent=1))


def measured(port: int, network: Network, load: Load) -> dict[str, float]:
    """Milliseconds of routes and tables of one client, and requests a second of many."""
    rng = np.random.default_rng(load.seed)
    pairs = network.places[rng.integers(0, len(network.places), (load.num_routes, 2))]
    paths = [f"/route/v1/driving/{written(pair)}" for pair in pairs]
    places = network.places[rng.integers(0, len(network.places), load.side)]
    asked(port, paths[:20])
    routes, tables = (
        asked(port, paths),
        asked(port, [f"/table/v1/driving/{written(places)}"] * load.num_tables),
    )
    rate, num_errors = asyncio.run(crowded(port, paths, load))
    return {
        "route_p50_ms": float(np.median(routes)),
        "route_p99_ms": float(np.quantile(routes, 0.99)),
        "table_ms": float(np.median(tables)),
        "requests_a_second": rate,
        "server_errors": num_errors,
    }


def written(places: FloatArray) -> str:
    """Places as a path has them."""
    return ";".join(f"{x:.6f},{y:.6f}" for x, y in places)


def asked(port: int, paths: list[str]) -> list[float]:
    """Milliseconds of each request, one after the other on one connection."""
    connection, found = HTTPConnection("127.0.0.1", port, timeout=60), []
    for path in paths:
        began = time.perf_counter()
        connection.request("GET", path)
        connection.getresponse().read()
        found.append(1000.0 * (time.perf_counter() - began))
    return found


def get(port: int, path: str) -> Any:
    """The JSON of one request."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    values = json.loads(connection.getresponse().read())
    connection.close()
    return values


async def crowded(port: int, paths: list[str], load: Load) -> tuple[float, int]:
    """Requests a second of several clients that each wait for their answers, and answers of status 5xx."""
    end, statuses = time.perf_counter() + load.seconds, []

    async def client(first: int) -> None:
        number = first
        while time.perf_counter() < end:
            if (number - first) % (100 * load.num_clients) == 0:  # OSRM closes connections after 512 requests
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            path = paths[number % len(paths)]
            number += load.num_clients
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            statuses.append(int(head.split()[1]))

    began = time.perf_counter()
    await asyncio.gather(*(client(first) for first in range(load.num_clients)))
    return len(statuses) / (time.perf_counter() - began), sum(status >= 500 for status in statuses)


@contextmanager
def served(roads: Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """The port of `chronoforest serve`, and its process."""
    port = PORTS["serve"]
    command = [sys.executable, "-m", "chronoforest", "serve", "--preset", str(roads), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield port, process
    finally:
        process.terminate()
        process.wait()


@contextmanager
def routed(network: Network, programs: Path, folder: Path) -> Iterator[int]:
    """The port of `osrm-routed` over the same roads, with one thread."""
    file, port = folder / "roads.osm.pbf", PORTS["osrm"]
    tools, profile = programs / "bin", Path(__file__).parents[1] / "examples" / "recorded.lua"
    for name in (file, folder / "speeds.csv"):
        write_network(network, name, "roads")
    subprocess.run([tools / "osrm-extract", "-p", profile, file], check=True, capture_output=True)
    contract: list[str | Path] = [
        tools / "osrm-contract",
        "--segment-speed-file",
        folder / "speeds.csv",
        folder / "roads.osrm",
    ]
    subprocess.run(contract, check=True, capture_output=True)
    command: list[str | Path] = [tools / "osrm-routed", "-t", "1", "-p", str(port), folder / "roads.osrm"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait()


def wait_for(port: int, seconds: float = 30.0) -> None:
    """Return once a server listens."""
    end = time.monotonic() + seconds
    while True:
        try:
            return HTTPConnection("127.0.0.1", port, timeout=1).connect()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def loaded(network: Network, num_hops: int = 1_000_000) -> dict[str, float]:
    """Seconds to load copies of the city side by side, and milliseconds of their routes."""
    copies = -(-num_hops // network.num_hops)
    width = np.ptp(network.position[:, 0]) + 1000.0
    count = len(network.position)
    moves = np.repeat(np.arange(copies), count)
    position = np.tile(network.position, (copies, 1))
    position[:, 0] += width * moves
    offsets = np.arange(copies)
    tiled = replace(
        network,
        position=position,
        heading=np.tile(network.heading, copies),
        source=(network.source + count * offsets[:, None]).ravel(),
        target=(network.target + count * offsets[:, None]).ravel(),
        seconds=np.tile(network.seconds, copies),
        low=np.tile(network.low, copies),
        high=np.tile(network.high, copies),
        count=np.tile(network.count, copies),
        is_recorded=np.tile(network.is_recorded, copies),
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tiled.roads.npz"
        Router(tiled).save(file)
        began = time.perf_counter()
        router = Router.load(file).warmed()
        seconds = time.perf_counter() - began
    rng, times = np.random.default_rng(1), []
    for _ in range(100):
        copy = count * int(rng.integers(copies))
        stops = [router.snap(tiled.position[copy + row]) for row in rng.integers(0, count, 2)]
        began = time.perf_counter()
        router.route([stop for stop in stops if stop is not None])
        times.append(1000.0 * (time.perf_counter() - began))
    return {"hops": tiled.num_hops, "load_s": seconds, "route_p50_ms": float(np.median(times))}


if __name__ == "__main__":
    tyro.cli(serving)
