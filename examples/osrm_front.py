"""Routes from osrm-routed over an exported world: every state around both ends is asked about, and the best
two are taken, because OSRM alone joins a place to the one nearest line.

python examples/osrm_front.py data/city.roads.npz http://127.0.0.1:5000 -87.6471,41.8736 -87.6602,41.8685
"""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path

import numpy as np

from chronoforest.service.router import Router, Snap

DEGREES = 12
"""States at one place differ by more in their headings."""


def asked(server: str, path: str) -> dict:
    """OSRM's answer, also where it is a refusal."""
    try:
        with urllib.request.urlopen(f"{server}{path}") as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


def route(
    server: str,
    router: Router,
    start: tuple[float, float],
    goal: tuple[float, float],
    query: str = "annotations=nodes&overview=full",
) -> dict:
    """OSRM's route between the best two states around two places; query: of the route."""
    network = router.network
    snaps = [router.snap(network.frame.to_local(np.array(place))) for place in (start, goal)]
    near = [Snap(snap.states[:24], snap.gap[:24]) for snap in snaps if snap is not None]
    states = np.concatenate([snap.states for snap in near])
    count = len(near[0].states)
    sources = ";".join(map(str, range(count)))
    targets = ";".join(map(str, range(count, len(states))))
    places, bearings = described(router, states)
    path = f"/table/v1/driving/{places}?bearings={bearings}&sources={sources}&destinations={targets}"
    table = asked(server, path)
    if table["code"] != "Ok":
        return table
    seconds = np.array(table["durations"], dtype=float)
    cost = seconds + near[0].gap[:, None] / network.speed + near[1].gap / network.speed
    row, column = np.unravel_index(np.argmin(np.nan_to_num(cost, nan=np.inf)), cost.shape)
    places, bearings = described(router, states[[row, count + column]])
    return asked(server, f"/route/v1/driving/{places}?bearings={bearings}&{query}")


def described(router: Router, states: np.ndarray) -> tuple[str, str]:
    """Coordinates and bearings of states as OSRM reads them."""
    network = router.network
    places = ";".join(f"{x:.6f},{y:.6f}" for x, y in network.places[states])
    degrees = np.round((90.0 - np.degrees(network.heading[states])) % 360.0).astype(int)
    return places, ";".join(f"{value},{DEGREES}" for value in degrees.tolist())


def main() -> None:
    """Print one route."""
    file, server, *ends = sys.argv[1:]
    start, goal = (tuple(map(float, end.split(","))) for end in ends)
    print(json.dumps(route(server, Router.load(Path(file)), start, goal), indent=1))


if __name__ == "__main__":
    main()
