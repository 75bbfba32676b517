"""The service as an engine: `python -m benchmarks.engine VERB --out FILE` writes one record each.

`osrm` compares OSRM on the exported city with our routes, `closures` plants closed streets among trips and
closes areas per request, `load` sends malformed requests and slow clients, kills the service and fills its
disk. Worlds are learned from `trips.csv.gz` in degrees; what each needs is told by `VERB --help`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import shapely
import tyro

from benchmarks.serving import Load, crowded, get, routed, served, written
from chronoforest.data.episodes import load
from chronoforest.data.frames import Frame
from chronoforest.exports.network import Network
from chronoforest.files import write_text
from chronoforest.roadmap.changes import ChangeParams, changes
from chronoforest.roadmap.roadmap import build_roadmap
from chronoforest.roadmap.states import tracks_of
from chronoforest.service.osrm import answer
from chronoforest.service.router import Router

UTM, SCALE, EASTING = Frame("degrees", (-87.0, 0.0)), 0.9996, (500_000.0, 0.0)
"""Zone 16N, in which the city's trips are."""

Roads = Annotated[Path, tyro.conf.Positional]


def osrm(
    roads: Roads,
    programs: Path,
    city: Path,
    out: Path,
    seeds: tuple[int, ...] = (4, 5, 6, 7),
    episodes: int = 50,
) -> None:
    """OSRM on the exported file, alone and behind `examples/osrm_front.py`, beside our routes.

    Args:
        roads: a road network's file of the city, in degrees.
        programs: folder `osrm` of the unpacked wheel of osrm-bindings.
        city: folder with trips.csv.gz and streets.csv.gz.
        out: where the figures are written.
        seeds: of the suite city's problems with one leg.
        episodes: problems of each seed.
    """
    from benchmarks.experiments.city import draw_problem, known_city

    router, judge = Router.load(roads), known_city(city)
    spec = importlib.util.spec_from_file_location(
        "front", Path(__file__).parents[1] / "examples/osrm_front.py"
    )
    assert spec is not None
    assert spec.loader is not None
    front = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(front)
    cases: Any = [SimpleNamespace(seed=s, episode=e, num_waypoints=0) for s in seeds for e in range(episodes)]
    ends = [UTM.to_user((draw_problem(judge, case)[0].anchors - EASTING) / SCALE) for case in cases]
    query = "overview=full&geometries=geojson"
    figures: dict[str, Any] = {"requests": len(ends), "seeds": list(seeds)}
    own = [answer(router, f"/route/v1/driving/{written(pair)}", query)[1] for pair in ends]
    figures["serve"] = _compared(router.network, own, own, judge)
    with tempfile.TemporaryDirectory() as folder, routed(router.network, programs, Path(folder)) as port:
        server = f"http://127.0.0.1:{port}"
        alone = [get(port, f"/route/v1/driving/{written(pair)}?{query}") for pair in ends]
        figures["osrm"] = _compared(router.network, own, alone, judge)
        fronted = [front.route(server, router, *map(tuple, pair), query) for pair in ends]
        figures["front"] = _compared(router.network, own, fronted, judge)
    _tell(out, figures)


def _compared(network: Network, own: list[Any], other: list[Any], judge: Any) -> dict[str, float]:
    """How answers agree with ours, field by field: shares of those that are complete."""
    found, turns, all_turns = [], 0, 0
    for one, two in zip(own, other, strict=True):
        if one["code"] != "Ok" or two["code"] != "Ok":
            continue
        a, b = one["routes"][0], two["routes"][0]
        lines = [network.frame.to_local(np.array(way["geometry"]["coordinates"])) for way in (a, b)]
        said = judge.judge(UTM.to_local(np.array(b["geometry"]["coordinates"])) * SCALE + EASTING)
        turns, all_turns = turns + said.num_unrecorded, all_turns + said.num_turns
        spots = [
            network.frame.to_local(np.array([w["location"] for w in way["waypoints"]])) for way in (one, two)
        ]
        gap = float(np.linalg.norm(spots[0] - spots[1], axis=1).max())
        apart = float(shapely.hausdorff_distance(*(shapely.LineString(line) for line in lines)))
        ratio, pace = b["distance"] / max(a["distance"], 1.0), b["duration"] / max(a["duration"], 1.0)
        found.append(
            [
                ratio,
                pace,
                abs(ratio - 1) <= 0.03,
                abs(pace - 1) <= 0.05,
                gap <= network.reach,
                len(a["legs"]) == len(b["legs"]),
                apart <= 2 * network.reach,
            ]
        )
    names = (
        "distance",
        "duration",
        "distance_same",
        "duration_same",
        "waypoints_same",
        "legs_same",
        "geometry_same",
    )
    means = dict(zip(names, np.mean(np.array(found, dtype=float), axis=0).tolist(), strict=True))
    return {
        "complete": len(found),
        "same_code": sum(a["code"] == b["code"] for a, b in zip(own, other, strict=True)),
        "false_turns": turns,
        "turns": all_turns,
        **means,
        "distance_median": float(np.median([row[0] for row in found])),
    }


def closures(
    recordings: Roads, out: Path, count: int = 50, least: int = 20, num_requests: int = 200, seed: int = 0
) -> None:
    """Streets left out of a second day, and areas closed for one request.

    Half of the trips are the first day. For each closure the second day is the other half without the trips
    through a street: those that make a hop within one spacing of it, in either direction.

    Args:
        recordings: of a learned world, NAME.npz.
        out: where the figures are written.
        count: streets that are closed, one at a time.
        least: trips through a street on the first day.
        num_requests: routes around 100 random polygons each.
        seed: of the days, streets and polygons.
    """
    rng, episodes = np.random.default_rng(seed), load(recordings)
    tracks = tracks_of(episodes)
    roadmap = build_roadmap(tracks)
    hops, spacing = roadmap.hops, roadmap.space.spacing
    made = [roadmap.matched(track) for track in tracks]
    trips = np.unique([track.recording for track in tracks])
    first_day = set(rng.permutation(trips)[: len(trips) // 2].tolist())
    is_later = np.array([track.recording not in first_day for track in tracks])
    owners: list[set[int]] = [set() for _ in range(len(hops))]
    for track, numbers in zip(tracks, made, strict=True):
        for hop in numbers[numbers >= 0].tolist():
            owners[hop].add(track.recording)
    middle = 0.5 * (roadmap.position[hops.source] + roadmap.position[hops.target])
    busy = [k for k, few in enumerate(owners) if len(few & first_day) >= least]
    around = rng.choice(busy, count, replace=False)
    figures: dict[str, Any] = {
        "hops": len(hops),
        "trips": len(trips),
        "closures": count,
        "least_trips": least,
    }
    reported, num_false = 0, 0
    for street in around:
        closed = np.flatnonzero(np.linalg.norm(middle - middle[street], axis=1) <= spacing)
        away = set().union(*(owners[hop] for hop in closed)) - first_day
        keep = np.array([track.recording not in away for track in tracks])
        few = [one for one, kept in zip(made, keep, strict=True) if kept]
        found = changes(roadmap.position, hops, few, is_later[keep], spacing, ChangeParams())
        gone = [one for one in found if not one.is_new]
        reported += any(np.isin(one.hops, closed).any() for one in gone)
        # What only the left out trips made is gone too, and rightly said to be.
        num_false += sum(
            one.is_new or not any(owners[hop] & away for hop in one.hops.tolist()) for one in found
        )
    figures |= {"reported": reported, "false_per_1000_hops": 1000.0 * num_false / (count * len(hops))}
    router = Router(Network.of(roadmap, episodes.frame))
    _tell(out, {"streets": figures, "areas": _around(router, num_requests, rng)})


def _around(router: Router, num_requests: int, rng: np.random.Generator) -> dict[str, Any]:
    """Routes around 100 random polygons each, and the same routes without them before and after."""
    network, entered, times, found, same = router.network, 0, [], 0, 0
    corners = np.linspace(0.0, 2 * np.pi, 7)[:-1]
    ring = np.stack([np.cos(corners), np.sin(corners)], axis=1)
    for _ in range(num_requests):
        centres = network.position[rng.integers(0, len(network.position), 100)] + rng.normal(0, 100, (100, 2))
        areas = centres[:, None] + rng.uniform(5, 40, (100, 1, 1)) * ring
        stops = list(network.position[rng.integers(0, len(network.position), 2)])
        free = [router.snap(place) for place in stops]
        before = router.route([snap for snap in free if snap is not None])
        began = time.perf_counter()
        closure = router.closure(list(areas))
        snaps = [router.snap(place, closure=closure) for place in stops]
        route = router.route([snap for snap in snaps if snap is not None], closure)
        times.append(time.perf_counter() - began)
        after = router.route([snap for snap in free if snap is not None])
        same += (before is None) == (after is None) and (
            before is None or after is None or np.array_equal(before.legs[0], after.legs[0])
        )
        if route is not None and len(route.legs[0]):
            found += 1
            line = shapely.LineString(network.line(route.legs[0]))
            entered += bool(shapely.intersects(shapely.polygons(areas), line).any())
    return {
        "requests": num_requests,
        "routes": found,
        "entered": entered,
        "same_without": same,
        "seconds_median": float(np.median(times)),
        "seconds_most": float(max(times)),
    }


def load_(
    roads: Roads, out: Path, malformed: int = 20_000, slow: int = 500, seconds: float = 60.0, seed: int = 0
) -> None:
    """Malformed requests, slow clients, a minute of load, a kill and a full disk, beside a client that asks
    for one route all the time.

    Args:
        roads: a road network's file, in degrees.
        out: where the figures are written.
        malformed: requests, each a valid one that was damaged.
        slow: clients at once that send a byte every fifth of a second.
        seconds: of load by 16 clients.
        seed: of the damage.
    """
    network = Router.load(roads).network
    rng = np.random.default_rng(seed)
    pairs = network.places[rng.integers(0, len(network.places), (100, 2))]
    paths = [f"/route/v1/driving/{written(pair)}" for pair in pairs]
    figures: dict[str, Any] = {}
    with served(roads) as (port, process):
        asyncio.run(crowded(port, paths, Load(seconds=3.0)))
        figures["damaged"] = asyncio.run(_beside(port, paths[0], _damaged(port, network, malformed, rng)))
        figures["dribbled"] = asyncio.run(_beside(port, paths[0], _dribbled(port, paths[1], slow)))
        memory = [_memory(process)]
        rate, errors = asyncio.run(crowded(port, paths, Load(seconds=seconds)))
        memory.append(_memory(process))
        figures["load"] = {"seconds": seconds, "requests_a_second": rate, "errors": errors}
        figures["load"] |= {"mb_before": memory[0], "mb_after": memory[1]}
        before = get(port, paths[0])
        process.kill()
        process.wait()
    with served(roads) as (port, _):
        figures["killed"] = {"same_answer_after_restart": get(port, paths[0]) == before}
    _tell(out, figures)


async def _beside(port: int, path: str, work: Any) -> dict[str, Any]:
    """What some work found, and how a client fared that asked for one route meanwhile."""
    expected, times, wrong = await asyncio.to_thread(get, port, path), [], 0
    task = asyncio.create_task(work)
    while not task.done():
        began = time.perf_counter()
        wrong += await asyncio.to_thread(get, port, path) != expected
        times.append(time.perf_counter() - began)
        await asyncio.sleep(0.05)
    return {**task.result(), "asked": len(times), "wrong": wrong, "p99_s": float(np.quantile(times, 0.99))}


def requests_of(port: int, network: Network, rng: np.random.Generator) -> list[bytes]:
    """Valid requests of every kind."""
    few = network.places[rng.integers(0, len(network.places), 6)]
    text, polygon = written(few), "polygon(_p~iF~ps%7CU_ulLnnqC_mqNvxq%60@)"
    queries = [
        "",
        "alternatives=3&steps=true",
        "annotations=true&overview=full&geometries=geojson",
        "radiuses=" + ";".join("9" * 6),
        "bearings=" + ";".join(["10,20"] * 6),
        f"exclude={polygon}",
        "depart=2026-01-31T08:30",
    ]
    gets = [f"/route/v1/driving/{text}?{query}" for query in queries]
    gets += [
        f"/table/v1/driving/{text}?sources=0;1&annotations=duration,distance",
        f"/nearest/v1/driving/{written(few[:1])}?number=5",
    ]
    gets += [
        f"/trip/v1/driving/{text}?roundtrip=false&source=first&destination=last",
        f"/match/v1/driving/{text}?timestamps=1;2;3;4;5;6",
        "/worlds",
        "/world",
        "/openapi.json",
    ]
    spots = few.tolist()
    posts: list[Any] = [
        {"starts": spots[:1], "waypoints": spots[1:], "exclude": [spots[:3]], "answer": "rounds"}
    ]
    posts += [
        {
            "vehicles": [{"id": 1, "start": spots[0], "end": spots[1]}],
            "jobs": [{"id": k, "location": spot} for k, spot in enumerate(spots)],
        }
    ]
    host = f"Host: 127.0.0.1:{port}\r\n"
    heads = [f"GET {path} HTTP/1.1\r\n{host}\r\n".encode() for path in gets]
    for post in posts:
        body = json.dumps(post).encode()
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        heads.append(f"POST /plan HTTP/1.1\r\n{host}{kind}\r\n".encode() + body)
    return heads


def damaged(request: bytes, rng: np.random.Generator) -> bytes:
    """A request with a few bytes changed, cut out, repeated or put in."""
    data = bytearray(request)
    for _ in range(int(rng.integers(1, 5))):
        at, size = int(rng.integers(0, len(data) + 1)), int(rng.integers(1, 12))
        kind = int(rng.integers(0, 5))
        if kind == 0:
            data[at : at + 1] = bytes([int(rng.integers(0, 256))])
        elif kind == 1:
            del data[at : at + size]
        elif kind == 2:
            data[at:at] = data[max(at - size, 0) : at] * int(rng.integers(1, 30))
        elif kind == 3:
            data[at:at] = rng.integers(0, 256, size, dtype=np.uint8).tobytes()
        else:
            words = [
                b"NaN",
                b"1e999",
                b"-0",
                b"null",
                b"[[",
                b"%00",
                b"\r\n",
                b";",
                b"9" * 400,
                b"../",
                b"\xff\xfe",
            ]
            data[at:at] = words[int(rng.integers(0, len(words)))]
    return bytes(data)


async def _damaged(port: int, network: Network, count: int, rng: np.random.Generator) -> dict[str, Any]:
    """Statuses of damaged requests, 32 at a time; 0 where the connection ended without one."""
    valid, statuses = requests_of(port, network, rng), Counter[int]()
    waiting = [damaged(valid[int(rng.integers(0, len(valid)))], rng) for _ in range(count)]

    async def client() -> None:
        while waiting:
            statuses[await sent(port, waiting.pop())] += 1

    await asyncio.gather(*(client() for _ in range(32)))
    return {
        "requests": count,
        "statuses": {str(status): number for status, number in sorted(statuses.items())},
    }


async def sent(port: int, request: bytes, seconds: float = 20.0) -> int:
    """The status of a request whose sender says that nothing follows; 0 where there is none."""
    with contextlib.suppress(ConnectionError, TimeoutError, asyncio.IncompleteReadError):
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(request)
                writer.write_eof()
                first = (await reader.readline()).split()
                return int(first[1]) if len(first) > 1 else 0
            finally:
                writer.close()
    return 0


async def _dribbled(port: int, path: str, count: int, most: float = 30.0) -> dict[str, Any]:
    """Clients that send a request byte by byte until the service closes their connection."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Filler: {'x' * 400}\r\n".encode()

    async def client() -> bool:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        end = time.monotonic() + most
        try:
            for byte in request:
                writer.write(bytes([byte]))
                await asyncio.sleep(0.2)
                if reader.at_eof() or time.monotonic() > end:
                    break
            return reader.at_eof()
        except ConnectionError:
            return True
        finally:
            writer.close()

    found = await asyncio.gather(*(client() for _ in range(count)))
    return {"clients": count, "closed": sum(found)}


def _memory(process: subprocess.Popen[str]) -> float:
    """Megabytes that a process has in memory."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return round(int(status.partition("VmRSS:")[2].split()[0]) / 1024, 1)


def _tell(out: Path, figures: dict[str, Any]) -> None:
    write_text(out, json.dumps(figures, indent=1))
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    tyro.extras.subcommand_cli_from_dict({"osrm": osrm, "closures": closures, "load": load_})
