"""Programs that know OSRM, unchanged, with a service in a process of its own as their OSRM."""

import asyncio
import importlib.util
import json
import shutil
import subprocess
import sys
import tarfile
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from town import NETWORK, ROUTER, written

from benchmarks.engine import _beside, _damaged, _dribbled

EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = """<!doctype html><title>waiting</title><link rel="stylesheet" href="leaflet.css">
<div id="map" style="height: 400px"></div><script src="leaflet.js"></script>
<script src="leaflet-routing-machine.js"></script><script>
const map = L.map("map").setView([POINTS[0][1], POINTS[0][0]], 14);
L.Routing.control({
  waypoints: POINTS.map(([x, y]) => L.latLng(y, x)),
  router: L.Routing.osrmv1({ serviceUrl: "SERVICE/route/v1", suppressDemoServerWarning: true }),
})
  .on("routesfound", ({ routes }) => {
    document.title = JSON.stringify({ ...routes[0].summary, points: routes[0].coordinates.length,
      steps: routes[0].instructions.map(({ type }) => type) });
  })
  .on("routingerror", ({ error }) => (document.title = "error " + JSON.stringify(error)))
  .addTo(map);
</script>"""


@contextmanager
def serving(path, *options):
    """The address of `chronoforest serve` over the town."""
    command = [sys.executable, "-m", "chronoforest", "serve", "--preset", str(path), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().partition(" is at ")[2].split()[0].rstrip("/")
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def roads(tmp_path_factory):
    path = tmp_path_factory.mktemp("town") / "town.roads.npz"
    ROUTER.save(path)
    return path


@pytest.fixture(scope="module")
def service(roads):
    with serving(roads) as address:
        yield address


@pytest.fixture(scope="module")
def example():
    pytest.importorskip("vroom")
    spec = importlib.util.spec_from_file_location("fleet_vroom", EXAMPLES / "fleet_vroom.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_routingpy_reads_routes_alternatives_and_matrices(service):
    osrm = pytest.importorskip("routingpy").OSRM(base_url=service)
    places = NETWORK.places[[0, 200, 300]].tolist()
    route = osrm.directions(places, profile="driving", steps=True, overview="full", geometries="geojson")
    ends = np.array([route.geometry[0], route.geometry[-1]])
    np.testing.assert_allclose(ends, places[::2], atol=3e-4)
    several = osrm.directions(places[::2], profile="driving", alternatives=True, geometries="polyline6")
    assert several[0].duration <= min(one.duration for one in several)
    table = osrm.matrix(places, profile="driving", annotations=["duration", "distance"])
    assert table.durations[0][2] == pytest.approx(several[0].duration, abs=1.0)
    assert np.shape(table.distances) == (3, 3)


def test_damaged_requests_and_slow_clients_hurt_nobody(service):
    port, rng = int(service.rpartition(":")[2]), np.random.default_rng(0)
    path = f"/route/v1/driving/{written(NETWORK.places[[0, 300]])}"
    for work in (_damaged(port, NETWORK, 200, rng), _dribbled(port, path, 20, most=1.0)):
        found = asyncio.run(_beside(port, path, work))
        assert found["wrong"] == 0
        assert all(int(status) < 500 for status in found.get("statuses", ()))


def test_vroom_plans_a_day_on_our_tables(service, example):
    solution = example.solved(NETWORK, int(service.rpartition(":")[2]))
    done = solution.routes[solution.routes["type"] == "job"]
    assert not solution.unassigned
    assert sorted(done["id"]) == list(range(1, example.JOBS + 1))


def test_leaflet_routing_machine_draws_our_routes(roads, tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if shutil.which("npm") is None or browser is None:
        pytest.skip("npm and Chromium are needed")
    for name in ("leaflet@1.9.4", "leaflet-routing-machine@3.2.12"):
        packed = subprocess.run(
            ["npm", "pack", name], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        if packed.returncode:
            pytest.skip(f"npm has no {name} here")
        with tarfile.open(tmp_path / packed.stdout.split()[-1]) as archive:
            archive.extractall(tmp_path, filter="data")
        for file in (tmp_path / "package" / "dist").iterdir():
            if file.is_file():
                file.rename(tmp_path / file.name)
        shutil.rmtree(tmp_path / "package")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    pages = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{pages.server_port}"
    points = NETWORK.places[[0, 200, 300]].tolist()
    with serving(roads, "--allow-origin", origin) as address:
        text = PAGE.replace("POINTS", json.dumps(points)).replace("SERVICE", address)
        (tmp_path / "index.html").write_text(text)
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=15000", "--dump-dom"]
        command = [browser, *options, f"--user-data-dir={tmp_path / 'profile'}", f"{origin}/index.html"]
        page = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    pages.shutdown()
    title = page.partition("<title>")[2].partition("</title>")[0]
    found = json.loads(title)
    assert found["totalDistance"] > 0
    assert found["points"] > 2
    assert found["steps"][-1] == "DestinationReached"
