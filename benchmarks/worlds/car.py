"""A car in a yard: the vehicle, its scripted driver, and the exact judge. The planner sees recordings alone.

A state is (x, y, heading, speed) of the middle of the rear axle; a negative speed drives backward.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from scipy.ndimage import distance_transform_edt

from chronoforest.types import BoolArray, FloatArray

X, Y, HEADING, SPEED = range(4)


@dataclass(frozen=True)
class Vehicle:
    """A kinematic bicycle. Lengths in metres, angles in radians; the body reaches `front` ahead of the rear
    axle, `back` behind it and `side` to both sides."""

    wheelbase: float = 2.4
    front: float = 2.9
    back: float = 0.7
    side: float = 0.8
    radius: float = 4.0
    slowest: float = -2.0
    fastest: float = 5.0
    steering_rate: float = 1.0
    acceleration: float = 2.0

    @property
    def most_steering(self) -> float:
        """Steering angle of the tightest turn."""
        return float(np.arctan(self.wheelbase / self.radius))

    def stepped(
        self, state: FloatArray, steering: FloatArray, wanted: FloatArray, seconds: float
    ) -> tuple[FloatArray, FloatArray]:
        """States [n, 4] and steering angles [n] after some time, with wanted [n, 2] (steering angle, speed)
        approached as fast as the limits allow."""
        limit = self.steering_rate * seconds
        steering = steering + np.clip(wanted[:, 0] - steering, -limit, limit)
        steering = np.clip(steering, -self.most_steering, self.most_steering)
        limit = self.acceleration * seconds
        speed = state[:, SPEED] + np.clip(wanted[:, 1] - state[:, SPEED], -limit, limit)
        speed = np.clip(speed, self.slowest, self.fastest)
        way = 0.5 * (state[:, SPEED] + speed) * seconds
        turn = way * np.tan(steering) / self.wheelbase
        middle = state[:, HEADING] + 0.5 * turn
        moved = [state[:, X] + way * np.cos(middle), state[:, Y] + way * np.sin(middle)]
        return np.stack([*moved, state[:, HEADING] + turn, speed], axis=1), steering

    def corners(self, states: FloatArray) -> FloatArray:
        """[n, 4, 2] of the body."""
        ahead = np.array([self.front, self.front, -self.back, -self.back])
        aside = np.array([self.side, -self.side, -self.side, self.side])
        return _placed(states, ahead, aside)

    def outline(self, states: FloatArray, spacing: float = 0.6) -> FloatArray:
        """[n, k, 2] points around the body."""
        ahead = np.linspace(-self.back, self.front, int((self.front + self.back) / spacing) + 1)
        both = np.concatenate([ahead, ahead, [self.front, -self.back]])
        aside = np.concatenate([np.full_like(ahead, self.side), np.full_like(ahead, -self.side), [0.0, 0.0]])
        return _placed(states, both, aside)


def _placed(states: FloatArray, ahead: FloatArray, aside: FloatArray) -> FloatArray:
    """[n, k, 2] points given in the frame of the body."""
    cos, sin = np.cos(states[:, HEADING, None]), np.sin(states[:, HEADING, None])
    x = states[:, X, None] + cos * ahead - sin * aside
    return np.stack([x, states[:, Y, None] + sin * ahead + cos * aside], axis=-1)


@dataclass(frozen=True)
class Verdict:
    """What is wrong with a path of states, in words; nothing if it is driven without fault."""

    faults: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether there is no fault."""
        return not self.faults


@dataclass(frozen=True, eq=False)
class Yard:
    """Walls as rectangles (left, bottom, right, top) in a square of `size` metres; ramps: rectangles that are
    driven in one direction only, with it; bays: states in which a car stands in its bay, nose out; tight:
    states in gates, dead ends and ramps."""

    vehicle: Vehicle
    size: float
    walls: tuple[tuple[float, float, float, float], ...]
    ramps: tuple[tuple[tuple[float, float, float, float], tuple[float, float]], ...]
    bays: FloatArray
    tight: FloatArray

    cell = 0.1

    @cached_property
    def _tree(self) -> shapely.STRtree:
        size = self.size
        around = [
            (-1, -1, size + 1, 0),
            (-1, size, size + 1, size + 1),
            (-1, 0, 0, size),
            (size, 0, size + 1, size),
        ]
        return shapely.STRtree(shapely.box(*np.array([*self.walls, *around], dtype=np.float64).T))

    @cached_property
    def room(self) -> FloatArray:
        """[cells, cells] metres to the nearest wall, for the driver."""
        count = round(self.size / self.cell)
        free = np.ones((count + 2, count + 2), dtype=np.bool_)
        free[[0, -1]] = free[:, [0, -1]] = False
        for wall in self.walls:
            left, bottom, right, top = (round(value / self.cell) + 1 for value in wall)
            free[left : max(right, left + 1), bottom : max(top, bottom + 1)] = False
        return np.asarray(distance_transform_edt(free)[1:-1, 1:-1] * self.cell)

    def clearance(self, states: FloatArray) -> FloatArray:
        """[n] about how far the body is from walls; for the driver, who judges by eye."""
        points = self.vehicle.outline(states)
        rows = np.clip((points / self.cell).astype(np.int64), 0, len(self.room) - 1)
        return np.asarray(self.room[rows[..., 0], rows[..., 1]].min(axis=1))

    def against(self, states: FloatArray) -> BoolArray:
        """[n] whether a state drives a ramp against its direction."""
        found = np.zeros(len(states), dtype=np.bool_)
        for (left, bottom, right, top), (east, north) in self.ramps:
            inside = (
                (states[:, X] > left)
                & (states[:, X] < right)
                & (states[:, Y] > bottom)
                & (states[:, Y] < top)
            )
            along = np.cos(states[:, HEADING]) * east + np.sin(states[:, HEADING]) * north
            found |= inside & (along * states[:, SPEED] < 0)
        return found

    def touches(self, states: FloatArray) -> BoolArray:
        """[n] whether the body touches a wall, exactly."""
        bodies = shapely.polygons(self.vehicle.corners(states))
        found = np.zeros(len(states), dtype=np.bool_)
        found[np.unique(self._tree.query(bodies, predicate="intersects")[0])] = True
        return found

    def judged(self, path: FloatArray, times: FloatArray) -> Verdict:
        """A path of states [t, 4] with times: does it touch, can the car drive it, is a ramp driven against
        its direction."""
        fine = finely(path, times)[0]
        faults = [
            (self.touches(fine).any(), "touches a wall"),
            (self.against(fine).any(), "against the ramp"),
            *((not is_kept, fault) for fault, is_kept in kept_limits(self.vehicle, path, times).items()),
        ]
        return Verdict(tuple(fault for is_fault, fault in faults if is_fault))


def kept_limits(vehicle: Vehicle, paths: FloatArray, times: FloatArray) -> dict[str, BoolArray]:
    """[...] for each limit whether paths [..., t, 4] keep it within 20 % and some rounding, from every row to
    the next and over eight rows, where rounding counts for less."""
    slack, move = 1.2, np.diff(paths[..., :2], axis=-2)
    turn = wrapped(np.diff(paths[..., HEADING], axis=-1))
    middle = paths[..., :-1, HEADING] + 0.5 * turn
    speed = 0.5 * (paths[..., :-1, SPEED] + paths[..., 1:, SPEED])
    along = move[..., 0] * np.cos(middle) + move[..., 1] * np.sin(middle)
    aside = move[..., 1] * np.cos(middle) - move[..., 0] * np.sin(middle)
    took, gained = np.diff(times, axis=-1), np.diff(paths[..., SPEED], axis=-1)
    is_within = (speed <= slack * vehicle.fastest) & (speed >= slack * vehicle.slowest)
    is_kept: dict[str, BoolArray] = {"too fast": np.asarray(is_within.all(axis=-1))}
    for rows in {1, min(8, turn.shape[-1])}:
        way, seconds = _over(np.abs(along), rows), _over(took, rows)
        off = np.abs(_over(along - speed * took, rows))
        found = {
            "moves sideways": np.abs(_over(aside, rows)) <= 0.02 + 0.1 * way,
            "turns too tightly": np.abs(_over(turn, rows)) <= 0.02 + slack * way / vehicle.radius,
            "speed is not the motion's": off <= 0.05 + 0.2 * _over(np.abs(speed) * took, rows),
            "accelerates too hard": np.abs(_over(gained, rows))
            <= 0.1 + slack * vehicle.acceleration * seconds,
        }
        for name, kept in found.items():
            is_kept[name] = np.asarray(kept.all(axis=-1) & is_kept.get(name, True))
    return is_kept


def _over(values: FloatArray, rows: int) -> FloatArray:
    """[..., t - rows + 1] sums of so many values [..., t] in a row."""
    return np.asarray(np.lib.stride_tricks.sliding_window_view(values, rows, axis=-1).sum(axis=-1))


def drivable(vehicle: Vehicle, paths: FloatArray, times: FloatArray) -> BoolArray:
    """[n] whether the vehicle keeps its limits along all of each path [n, t, 4]."""
    return np.logical_and.reduce(list(kept_limits(vehicle, paths, times).values()))


def wrapped(angle: FloatArray) -> FloatArray:
    """Angles in [-π, π)."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def finely(path: FloatArray, times: FloatArray, step: float = 0.05) -> tuple[FloatArray, FloatArray]:
    """States every `step` seconds along [t, 4], and when; between two rows they change evenly."""
    when = np.arange(times[0], times[-1] + step, step).clip(max=times[-1])
    plain = np.column_stack([path[:, :2], np.unwrap(path[:, HEADING]), path[:, SPEED]])
    return np.stack([np.interp(when, times, column) for column in plain.T], axis=1), when


@dataclass(frozen=True, eq=False)
class Drive:
    """What the tracker drove: states [t, 4]; whether it touched anything, and how far from the end it stands
    in metres and radians."""

    states: FloatArray
    is_touching: bool
    apart: float
    turned: float

    @property
    def has_arrived(self) -> bool:
        """Within 0.3 m and 5° of the end, without touching anything."""
        return not self.is_touching and self.apart <= 0.3 and self.turned <= np.radians(5.0)


def followed(
    yard: Yard, path: FloatArray, times: FloatArray, goal: FloatArray | None = None, step: float = 0.05
) -> Drive:
    """Drive a plan of states [t, 4] in the simulator and stop at its end; goal: where that should be.

    Ten times a second the steering is chosen that would keep the car nearest to the plan over the next 1.2 s,
    of an angle for 0.4 s and another one after it. The plan is driven more slowly where it asks for quicker
    steering than the car has, and waits while the car is off it.
    """
    vehicle, ends, fine = yard.vehicle, path[-1] if goal is None else goal, finely(path, times, step)[0]
    rows, paces = round(0.4 / step), np.ones(len(fine))
    angle = np.arctan(_curvature(fine, rows) * vehicle.wheelbase)
    steers = np.abs(angle[rows:] - angle[:-rows]) / (rows * step)
    if len(steers):
        most = np.lib.stride_tricks.sliding_window_view(np.pad(steers, (0, 39)), 40).max(axis=1)
        paces[: len(most)] = np.clip(0.6 * vehicle.steering_rate / np.maximum(most, 1e-6), 0.25, 1.0)
    angles = np.linspace(-1.0, 1.0, 11) * vehicle.most_steering
    now_then = np.stack(np.meshgrid(angles, angles), axis=-1).reshape(-1, 2)
    state, steering, driven, at, rest = fine[:1].copy(), np.zeros(1), [fine[0]], 0.0, round(1.5 / step)
    while rest > 0 and len(driven) < 3 * len(fine) + 100:
        off = np.linalg.norm(state[0, :2] - fine[int(at), :2])
        pace = float(np.clip(1.2 - 1.5 * off, 0.2, paces[int(at)]))
        rows = np.minimum(at + pace * np.arange(1, 25), len(fine) - 1.0).astype(np.int64)
        many, turned = np.repeat(state, len(now_then), axis=0), np.repeat(steering, len(now_then))
        cost = np.zeros(len(now_then))
        for k in range(0, 24, 3):  # in steps three times as long
            aim = fine[rows[k]]
            wanted = np.column_stack(
                [now_then[:, int(k >= 8)], _speed(many, aim, pace * (rows[k] < len(fine) - 1))]
            )
            many, turned = vehicle.stepped(many, turned, wanted, 3 * step)
            late = fine[rows[k + 2]]
            cost += ((many[:, :2] - late[:2]) ** 2).sum(axis=1) + 4.0 * (
                1.0 - np.cos(many[:, HEADING] - late[HEADING])
            )
        chosen = now_then[cost.argmin(), :1]
        for _ in range(2):
            is_over = int(at) == len(fine) - 1
            wanted = np.column_stack([chosen, _speed(state, fine[int(at)], pace * (not is_over))])
            state, steering = vehicle.stepped(state, steering, wanted, step)
            driven.append(state[0])
            at, rest = min(at + pace, len(fine) - 1.0), rest - is_over
    states = np.stack(driven)
    turned_by = float(abs(wrapped(states[-1, HEADING] - ends[HEADING])))
    apart = float(np.linalg.norm(states[-1, :2] - ends[:2]))
    return Drive(states, bool(yard.touches(states).any()), apart, turned_by)


def _speed(states: FloatArray, aim: FloatArray, pace: float) -> FloatArray:
    """[n] the plan's own speed, corrected for how far the car is behind it."""
    cos, sin = np.cos(states[:, HEADING]), np.sin(states[:, HEADING])
    behind = cos * (aim[X] - states[:, X]) + sin * (aim[Y] - states[:, Y])
    return np.asarray(pace * aim[SPEED] + 1.5 * behind)


def _curvature(states: FloatArray, rows: int) -> FloatArray:
    """[t] radians a metre over the next rows that are driven in one gear: steering takes time."""
    gear = np.sign(states[:-1, SPEED] + states[1:, SPEED])
    length = np.linalg.norm(np.diff(states[:, :2], axis=0), axis=1) * gear
    turn, found = np.diff(states[:, HEADING]), np.zeros(len(states))
    for row in range(len(turn)):
        ahead = length[row : row + rows]
        ahead = ahead[: np.flatnonzero(ahead * ahead[0] < 0)[0]] if (ahead * ahead[0] < 0).any() else ahead
        if abs(ahead.sum()) > 0.02:
            found[row] = turn[row : row + len(ahead)].sum() / ahead.sum()
    return found


def yard() -> Yard:
    """Sixty metres with three aisles, bays at the bottom and the top, two gates, a dead end and a ramp."""
    lines = [
        (x - 0.1, y0, x + 0.1, y1)
        for xs, y0, y1 in (((10, 13, 16, 19, 22, 25, 28), 0, 4.5), ((36, 39, 42, 45, 48, 51, 54), 55.5, 60))
        for x in xs
    ]
    walls = (
        (28, 0, 50, 5),
        (8, 12, 26, 22), (28.7, 12, 52, 22),  # a gate of 2.7 m between them, ten metres long
        (8, 30, 18, 40), (18, 38, 23, 40), (23, 30, 40, 40), (44, 30, 52, 40),  # a dead end, and the ramp
        (0, 47.5, 24, 48.5), (26.7, 47.5, 60, 48.5),  # a gate of 2.7 m
        (0, 56, 20, 60),
        *lines,
    )  # fmt: skip
    up, down = np.pi / 2, -np.pi / 2
    bays = [(x + 1.5, 1.3, up) for x in (10, 13, 16, 19, 22, 25)]
    bays += [(x + 1.5, 58.7, down) for x in (36, 39, 42, 45, 48, 51)]
    tight = [(27.35, y, a) for y in (12, 16, 20) for a in (up, down)]
    tight += [(25.35, y, a) for y in (46, 48, 50) for a in (up, down)]
    tight += [(20.5, y, a) for y in (32, 34) for a in (up, down)]
    tight += [(42.0, y, up) for y in (27, 29, 32, 35)]
    stand = [np.column_stack([np.array(rows), np.zeros(len(rows))]) for rows in (bays, tight)]
    return Yard(Vehicle(), 60.0, walls, (((40, 30, 44, 40), (0.0, 1.0)),), *stand)


def free_states(yard: Yard, count: int, rng: np.random.Generator, margin: float = 0.3) -> FloatArray:
    """[count, 4] where a car may stand, at any heading."""
    found: list[FloatArray] = []
    while sum(map(len, found)) < count:
        low, high = (0.0, 0.0, -np.pi, 0.0), (yard.size, yard.size, np.pi, 0.0)
        drawn = rng.uniform(low, high, (2 * count, 4))
        found.append(
            drawn[(yard.clearance(drawn) > margin) & ~yard.against(drawn + np.array([0.0, 0.0, 0.0, 1.0]))]
        )
    return np.concatenate(found)[:count]


def record(yard: Yard, count: int, seed: int, seconds: float = 10.0, rate: int = 10) -> FloatArray:
    """[count, rows, 4] drives: random controls that keep clear of walls, from anywhere, out of bays and
    gates, and into them, which is the way out driven backward in time."""
    rng, made = np.random.default_rng(seed), np.zeros((0, round(seconds * rate) + 1, 4))
    while len(made) < count:
        many = count // 2
        begin = free_states(yard, many, rng)
        special = np.concatenate([yard.bays, yard.bays, yard.tight])
        is_special = rng.random(many) < 0.45
        begin[is_special] = special[rng.integers(len(special), size=is_special.sum())]
        begin[is_special] += rng.normal(0, (0.1, 0.15, 0.03, 0), (is_special.sum(), 4))
        begin[is_special & (rng.random(many) < 0.25), HEADING] += np.pi  # nose in; where it fits
        begin = begin[yard.clearance(begin) > 0.2]
        drives = _driven(yard, begin, rng, round(seconds * rate) + 1, rate)
        is_back = rng.random(len(drives)) < 0.5
        drives[is_back] = drives[is_back, ::-1] * [1.0, 1.0, 1.0, -1.0]
        flat = drives.reshape(-1, 4)
        is_fine = ~yard.against(flat).reshape(drives.shape[:2]).any(axis=1)
        is_fine &= (drives[..., SPEED] > yard.vehicle.slowest - 1e-6).all(axis=1)
        is_fine &= ~yard.touches(flat).reshape(drives.shape[:2]).any(axis=1)
        made = np.concatenate([made, drives[is_fine]])
    found = made[:count]
    found[..., HEADING] = wrapped(found[..., HEADING])
    return found


def _driven(yard: Yard, begin: FloatArray, rng: np.random.Generator, rows: int, rate: int) -> FloatArray:
    """[n, rows, 4] from standing starts. Every half second each driver takes, of some random controls after
    which it can still stop clear of walls, one that gets on."""
    vehicle, step, choices = yard.vehicle, 1.0 / (2 * rate), 10
    n, hold = len(begin), rate  # ten steps of 0.05 s
    state, steering = begin.copy(), np.zeros(n)
    gear = np.where(rng.random(n) < 0.6, 1.0, -1.0)
    out = [state]
    margin = np.minimum(0.3, yard.clearance(begin) - 0.02)
    while len(out) < rows:
        gear = np.where(rng.random(n) < 0.06, -gear, gear)
        speed = np.where(
            gear[:, None] > 0,
            rng.uniform(0.8, vehicle.fastest, (n, choices)),
            -rng.uniform(0.5, 2.0, (n, choices)),
        )
        wanted = np.stack(
            [rng.uniform(-1.2, 1.2, (n, choices)).clip(-1, 1) * vehicle.most_steering, speed], axis=-1
        )
        wanted[:, 0, 0] = steering
        wanted[:, -1] = np.stack([steering, np.zeros(n)], axis=1)
        many, turned = np.repeat(state, choices, axis=0), np.repeat(steering, choices)
        wish, is_clear = wanted.reshape(-1, 2).copy(), np.ones(n * choices, dtype=np.bool_)
        most = np.repeat(margin, choices)
        way = np.zeros(n * choices)
        for k in range(hold + round(vehicle.fastest / vehicle.acceleration / step)):
            if k == hold:
                wish = np.stack([turned, np.zeros(len(wish))], axis=1)
            many, turned = vehicle.stepped(many, turned, wish, step)
            way += np.abs(many[:, SPEED]) * step
            if k % 3 == 2:
                is_clear &= (yard.clearance(many) > most) & ~yard.against(many)
        liked = way + rng.uniform(0, 2.5, len(way))
        liked = np.where(is_clear, liked, -1.0).reshape(n, choices)
        liked[:, -1] = np.maximum(liked[:, -1], 0.0)
        chosen = liked.argmax(axis=1)
        is_stuck = (chosen == choices - 1) & (np.abs(state[:, SPEED]) < 0.2)
        gear = np.where(is_stuck, -gear, gear)
        wish = wanted[np.arange(n), chosen]
        for k in range(hold):
            state, steering = vehicle.stepped(state, steering, wish, step)
            if k % 2 == 1:
                out.append(state)
        margin = np.minimum(0.3, np.maximum(margin, yard.clearance(state) - 0.02))
    return np.stack(out[:rows], axis=1)
