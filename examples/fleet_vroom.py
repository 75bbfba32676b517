"""Six vehicles and sixty jobs with time windows and loads: VROOM plans, a running `chronoforest serve` says
how long every way takes.

chronoforest serve --preset city --port 5000
python examples/fleet_vroom.py data/city.roads.npz 5000
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import vroom
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from chronoforest.exports.network import Network
from chronoforest.service.router import Router

VEHICLES, JOBS = 6, 60
DAY, WINDOW, WORK = 3 * 3600, 3600, 60
"""Seconds."""


def joined_places(network: Network, count: int, seed: int) -> NDArray[np.float64]:
    """[count, 2] longitude and latitude of states from each of which every other one can be reached."""
    shape = (len(network.position),) * 2
    graph = csr_matrix((network.seconds, (network.source, network.target)), shape=shape)
    label = connected_components(graph, connection="strong")[1]
    rows = np.flatnonzero(label == np.bincount(label).argmax())
    return network.places[np.random.default_rng(seed).choice(rows, count, replace=False)]


def solved(network: Network, port: int, seed: int = 0) -> vroom.Solution:
    """VROOM's plan for a made-up day."""
    rng = np.random.default_rng(seed)
    spots = joined_places(network, 2 * VEHICLES + JOBS, seed).tolist()
    problem = vroom.Input(servers={"car": f"127.0.0.1:{port}"}, router=vroom._vroom.ROUTER.OSRM)
    for k in range(VEHICLES):
        start, end = spots[k], spots[VEHICLES + k]
        problem.add_vehicle(
            vroom.Vehicle(k + 1, start=start, end=end, capacity=[30], time_window=vroom.TimeWindow(0, DAY))
        )
    for k, spot in enumerate(spots[2 * VEHICLES :], start=1):
        opens = int(rng.integers(0, DAY - WINDOW))
        window, load = vroom.TimeWindow(opens, opens + WINDOW), [int(rng.integers(1, 4))]
        problem.add_job(
            vroom.Job(k, location=spot, delivery=load, default_service=WORK, time_windows=[window])
        )
    return problem.solve(exploration_level=5, nb_threads=1)


def main() -> None:
    """Print what each vehicle does when."""
    solution = solved(Router.load(Path(sys.argv[1])).network, int(sys.argv[2]))
    print(solution.routes[["vehicle_id", "type", "arrival", "id"]].to_string())
    print(f"{solution.summary.cost} s of driving, {len(solution.unassigned)} jobs left out")


if __name__ == "__main__":
    main()
