"""A yard with one-way lanes, a free apron and obstacles: its map, its recordings, and a check of plans.

The map is for making recordings and for scoring. The planner never sees it: it gets the CSV files alone.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

PLACES: dict[str, tuple[float, float]] = {
    # the ring, driven counter-clockwise, with the places where lanes join it
    "sw": (3, 3), "s1": (20, 3), "s2": (37, 3), "se": (60, 3), "e1": (60, 11), "e2": (60, 24),
    "ne": (60, 42), "n2": (37, 42), "n1": (20, 42), "nw": (3, 42), "w1": (3, 24),
    # crossings in the middle, and the gate to the apron
    "c1": (20, 24), "c2": (37, 24), "gate": (37, 14),
    # the apron, driven either way around a tank
    "a1": (43.5, 14), "a2": (48.5, 19), "a3": (53.5, 14), "a4": (48.5, 9),
}  # fmt: skip

LANES: tuple[tuple[str, ...], ...] = (
    ("sw", "s1", "s2", "se", "e1", "e2", "ne", "n2", "n1", "nw", "w1", "sw"),
    ("s1", "c1", "n1"),
    ("n2", "c2", "gate", "s2"),
    ("w1", "c1", "c2", "e2"),
    ("s1", "c2"),
    ("gate", "a1"),
    ("a3", "e1"),
)
"""One-way: driven in the order of their places."""

FREE: tuple[tuple[str, str], ...] = (("a1", "a2"), ("a2", "a3"), ("a3", "a4"), ("a4", "a1"))
"""Driven both ways."""

CORNER = 3.0  # metres before and after a corner that a cart uses to turn
SHARPEST = 130.0  # degrees that a cart turns in one place
ERRANDS = 0.75  # of the turns lead on to a cart's next errand, the others anywhere
LANE_REACH = 2.5  # metres from a lane's middle that still count as on it


@dataclass(frozen=True)
class Traffic:
    """How many recordings are made, and what the receiver does to them."""

    num_days: int = 5
    num_recordings: int = 120  # per day
    seconds: tuple[float, float] = (26.0, 55.0)
    rate: float = 2.0  # rows per second
    speed: float = 1.5  # metres per second
    wander: float = 0.55  # metres from the middle of a lane
    drift: float = 0.2  # metres of slowly changing receiver error
    jitter: float = 0.05  # metres of error that is new in every row
    dropout_share: float = 0.06
    spike_share: float = 0.03
    seed: int = 7


def links() -> list[tuple[str, str]]:
    """Every directed link between neighbouring places."""
    lanes = [link for lane in LANES for link in pairwise(lane)]
    return [*lanes, *FREE, *((b, a) for a, b in FREE)]


def record(folder: Path, traffic: Traffic) -> list[Path]:
    """Write one CSV file per day: cart, trip, time, x, y."""
    rng = np.random.default_rng(traffic.seed)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for day in range(traffic.num_days):
        path = folder / f"day{day + 1}.csv"
        rows = [row for trip in range(traffic.num_recordings) for row in _trip(day, trip, traffic, rng)]
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("cart", "trip", "time", "x", "y"))
            writer.writerows(rows)
        paths.append(path)
    return paths


def _trip(day: int, trip: int, traffic: Traffic, rng: np.random.Generator) -> list[tuple[object, ...]]:
    """One recording as rows, with the receiver's faults."""
    seconds = rng.uniform(*traffic.seconds)
    time = np.arange(0.0, seconds, 1.0 / traffic.rate)
    speed = traffic.speed * rng.normal(1.0, 0.08)
    way = _drive(speed * seconds + 1.0, rng)
    travelled = np.cumsum(np.full(len(time), speed / traffic.rate)) * (1 + 0.02 * np.sin(time / 5))
    place = _along(way, np.minimum(travelled, _lengths(way)[-1]))
    heading = np.gradient(place, axis=0)
    normal = np.stack([-heading[:, 1], heading[:, 0]], axis=1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-9
    place = place + normal * np.clip(_slow_noise(len(time), traffic.wander, 30, rng), -1.1, 1.1)
    place += _slow_noise(len(time), traffic.drift, 40, rng, 2) + rng.normal(0, traffic.jitter, place.shape)
    start = 28800.0 + 400.0 * trip
    rows: list[tuple[object, ...]] = [
        (f"cart{trip % 6 + 1}", f"d{day + 1}-{trip + 1}", f"{start + t:.1f}", f"{x:.3f}", f"{y:.3f}")
        for t, (x, y) in zip(time, place, strict=True)
    ]
    return _damaged(rows, traffic, rng)


def _damaged(
    rows: list[tuple[object, ...]], traffic: Traffic, rng: np.random.Generator
) -> list[tuple[object, ...]]:
    """A dropout, a spike, an empty cell or a row sent twice, now and then."""
    if rng.random() < traffic.dropout_share:
        first = int(rng.integers(10, len(rows) - 20))
        del rows[first : first + int(rng.integers(6, 16))]
    if rng.random() < traffic.spike_share:
        row = int(rng.integers(1, len(rows) - 1))
        rows[row] = (*rows[row][:3], f"{float(str(rows[row][3])) + 40:.3f}", rows[row][4])
    if rng.random() < 0.05:
        row = int(rng.integers(1, len(rows) - 1))
        rows[row] = (*rows[row][:4], "")
    if rng.random() < 0.05:
        row = int(rng.integers(1, len(rows) - 1))
        rows.insert(row, rows[row])
    return rows


def _drive(length: float, rng: np.random.Generator) -> FloatArray:
    """[n, 2] a legal way of at least that length from errand to errand, corners rounded."""
    onward = turns()
    all_links = sorted(onward)
    sizes = np.array([np.linalg.norm(np.diff(_points(link), axis=0)) for link in all_links])
    names = list(all_links[int(rng.choice(len(all_links), p=sizes / sizes.sum()))])
    goal = str(rng.choice(sorted(PLACES)))
    while len(names) < 3 or _lengths(_points(names[1:-1])).max() < length:
        if names[-1] == goal:
            goal = str(rng.choice(sorted(PLACES)))
        link = (names[-2], names[-1])
        is_errand = rng.random() < ERRANDS
        names.append(_toward(link, goal, onward) if is_errand else str(rng.choice(onward[link])))
    way = rounded(_points(names))
    skipped = rng.uniform(0, np.linalg.norm(np.diff(_points(names[:2]), axis=0)))
    return way[_lengths(way) >= skipped]


def turns() -> dict[tuple[str, str], list[str]]:
    """Where a cart that comes over a link may drive next."""
    found: dict[tuple[str, str], list[str]] = {}
    for source, middle in links():
        for start, end in links():
            if start == middle and end != source and _angle(source, middle, end) <= SHARPEST:
                found.setdefault((source, middle), []).append(end)
    return found


def _angle(source: str, middle: str, end: str) -> float:
    first, second = np.diff(_points((source, middle, end)), axis=0)
    return float(np.degrees(np.arccos(first @ second / np.linalg.norm(first) / np.linalg.norm(second))))


@cache
def _next_links(goal: str) -> dict[tuple[str, str], str]:
    """From every link, the next place on the way to `goal` with the fewest links."""
    onward = turns()
    best: dict[tuple[str, str], str] = {}
    frontier = {link for link in onward if link[1] == goal}
    reached = set(frontier)
    while frontier:
        fresh = {
            link: next(end for end in onward[link] if (link[1], end) in frontier)
            for link in onward
            if link not in reached and any((link[1], end) in frontier for end in onward[link])
        }
        best.update(fresh)
        reached |= set(fresh)
        frontier = set(fresh)
    return best


def _toward(link: tuple[str, str], goal: str, onward: dict[tuple[str, str], list[str]]) -> str:
    return _next_links(goal).get(link, onward[link][0])


def _points(names: list[str] | tuple[str, ...]) -> FloatArray:
    return np.array([PLACES[name] for name in names], dtype=np.float64).reshape(-1, 2)


def rounded(corners: FloatArray) -> FloatArray:
    """A polyline [n, 2] with its corners cut to smooth curves, a point about every 0.25 m."""
    parts = [corners[:1]]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        reach = min(CORNER, *(0.5 * np.linalg.norm(end - corner) for end in (before, after)))
        a, b = (corner + reach * (end - corner) / np.linalg.norm(end - corner) for end in (before, after))
        t = np.linspace(0, 1, 15)[:, None]
        parts.append((1 - t) ** 2 * a + 2 * t * (1 - t) * corner + t**2 * b)
    way = np.concatenate([*parts, corners[-1:]])
    return _along(way, np.arange(0.0, _lengths(way)[-1], 0.25))


def _lengths(way: FloatArray) -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])


def _along(way: FloatArray, ticks: FloatArray) -> FloatArray:
    along = _lengths(way)
    return np.stack([np.interp(ticks, along, column) for column in way.T], axis=1)


def _slow_noise(
    count: int, size: float, memory: float, rng: np.random.Generator, dims: int = 1
) -> FloatArray:
    """[count, dims] noise of that standard deviation that forgets itself over `memory` rows."""
    keep = np.exp(-1.0 / memory)
    noise = np.empty((count, dims))
    noise[0] = rng.normal(0, size, dims)
    for row in range(1, count):
        noise[row] = keep * noise[row - 1] + rng.normal(0, size * np.sqrt(1 - keep**2), dims)
    return noise


@dataclass(frozen=True)
class Verdict:
    """What a plan does on the real yard: pieces of its paths in all, against a lane, and off every way."""

    num_pieces: int
    num_wrong_way: int
    num_off_road: int
    num_missed: int

    @property
    def is_good(self) -> bool:
        """Nothing against a lane, nothing off the road, every stop visited."""
        return self.num_wrong_way == self.num_off_road == self.num_missed == 0

    def __str__(self) -> str:
        return (
            f"{self.num_pieces} pieces of path: {self.num_wrong_way} against a one-way lane, "
            f"{self.num_off_road} off the road; {self.num_missed} stops missed"
        )


def judge(paths: list[FloatArray], stops: FloatArray) -> Verdict:
    """Measure paths [t, 2] against the map; stops [k, 2] must be passed within a metre."""
    middles, headings = map(np.concatenate, zip(*(_pieces(path) for path in paths), strict=True))
    wrong, off = _against_lanes(middles, headings)
    everything = np.concatenate(paths)
    missed = [stop for stop in stops if np.linalg.norm(everything - stop, axis=1).min() > 1.0]
    return Verdict(len(middles), int(wrong.sum()), int(off.sum()), len(missed))


def _pieces(path: FloatArray, length: float = 0.5) -> tuple[FloatArray, FloatArray]:
    """Middles and unit headings of pieces of about half a metre."""
    ticks = np.linspace(0, _lengths(path)[-1], max(2, int(_lengths(path)[-1] / length)))
    points = _along(path, ticks)
    steps = np.diff(points, axis=0)
    return (points[1:] + points[:-1]) / 2, steps / (np.linalg.norm(steps, axis=1, keepdims=True) + 1e-9)


def _against_lanes(places: FloatArray, headings: FloatArray) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[n] whether a piece goes against every way within reach; [n] whether no way is within reach."""
    agreement = np.full(len(places), -np.inf)
    nearest = np.full(len(places), np.inf)
    for way in legal_ways():
        tangent = np.gradient(way, axis=0)
        tangent /= np.linalg.norm(tangent, axis=1, keepdims=True) + 1e-9
        gap = np.linalg.norm(places[:, None] - way[None], axis=2)
        agrees = np.where(gap <= LANE_REACH, headings @ tangent.T, -np.inf).max(axis=1)
        agreement, nearest = np.maximum(agreement, agrees), np.minimum(nearest, gap.min(axis=1))
    is_off = nearest > LANE_REACH
    return (agreement < 0) & ~is_off, is_off


def legal_ways() -> Iterator[FloatArray]:
    """Every legal passage over one place, with its rounded corner: [n, 2] each."""
    for (source, middle), ends in turns().items():
        for end in ends:
            yield rounded(_points((source, middle, end)))


def lane_arrows(lane: tuple[str, ...]) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A place beside the middle of every link of a lane and a short vector in its direction, for drawing."""
    for start, end in pairwise(_points(lane)):
        ahead = (end - start) / np.linalg.norm(end - start)
        yield (start + end) / 2 + 1.3 * np.array([ahead[1], -ahead[0]]), 1.2 * ahead
