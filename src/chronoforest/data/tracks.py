"""Recordings while they are imported, what a step of the import found in them, and how they move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronoforest.data.frames import plainly
from chronoforest.errors import BadDataset
from chronoforest.types import BoolArray, FloatArray, IntArray

Watch = Callable[[int, int, str], None]
"""Receives how many of how many are done, and of what."""


def unwatched(done: int, total: int, what: str) -> None:
    """A watch that shows nothing."""


@dataclass(frozen=True)
class Finding:
    """One row of the report: what was looked for, what was found, what was done about it."""

    check: str
    found: str
    done: str = ""


@dataclass(frozen=True, eq=False)
class Tracks:
    """Uninterrupted parts of recordings, one after the other.

    names: [P] the recording that each part belongs to; part: [N] of each row, rising; time: [N] seconds;
    values: [N, columns], the first two are the place. What holds of two rows after each other, [N − 1], is
    NaN or false between the last row of a part and the first of the next.
    """

    names: NDArray[Any]
    part: IntArray
    time: FloatArray
    values: FloatArray

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def joined(cls, parts: Iterable[tuple[str, FloatArray, FloatArray]]) -> Tracks:
        """Of the recording, time [n] and values [n, columns] of each part."""
        names, times, values = zip(*parts, strict=True)
        owner = np.repeat(np.arange(len(names)), [len(time) for time in times])
        return cls(np.array(names, dtype=object), owner, np.concatenate(times), np.concatenate(values))

    def __iter__(self) -> Iterator[Tracks]:
        """Each part alone."""
        for k, (end, length) in enumerate(zip(np.cumsum(self.lengths), self.lengths, strict=True)):
            first, rows = np.zeros(length, dtype=np.int64), slice(end - length, end)
            yield Tracks(self.names[k : k + 1], first, self.time[rows], self.values[rows])

    @cached_property
    def lengths(self) -> IntArray:
        """[P] rows of each part."""
        return np.bincount(self.part, minlength=len(self.names))

    @property
    def places(self) -> FloatArray:
        """[N, 2]."""
        return self.values[:, :2]

    @cached_property
    def is_step(self) -> BoolArray:
        """[N − 1] whether a row and the next belong to one part."""
        return np.asarray(self.part[1:] == self.part[:-1])

    @cached_property
    def took(self) -> FloatArray:
        """[N − 1] seconds from each row to the next."""
        return np.where(self.is_step, np.diff(self.time), np.nan)

    @cached_property
    def moves(self) -> FloatArray:
        """[N − 1, 2] from each place to the next."""
        return np.where(self.is_step[:, None], np.diff(self.places, axis=0), np.nan)

    @cached_property
    def hops(self) -> FloatArray:
        """[N − 1] units from each place to the next."""
        with np.errstate(over="ignore"):  # damaged places may lie beyond any number
            return np.asarray(np.linalg.norm(self.moves, axis=1))

    @cached_property
    def speeds(self) -> FloatArray:
        """[N − 1] units per second from each row to the next."""
        # A damaged time may lie next to another; the speed is then a jump.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return np.asarray(self.hops / self.took)

    def placed(self, places: FloatArray) -> Tracks:
        """The same tracks elsewhere, [N, 2]."""
        return replace(self, values=np.concatenate([places, self.values[:, 2:]], axis=1))

    def where(self, keep: BoolArray) -> Tracks:
        """The rows that a mask [N] keeps, without parts of which a single one is left."""
        keep = keep & (np.bincount(self.part[keep], minlength=len(self))[self.part] > 1)
        if not keep.any():
            name = self.names[0] if len(self) else "import"
            raise BadDataset(
                f"{name}: no recording has two sound rows with different times; choose other episode and "
                "time columns"
            )
        parts, part = np.unique(self.part[keep], return_inverse=True)
        return Tracks(self.names[parts], part, self.time[keep], self.values[keep])

    def cut(self, is_cut: BoolArray) -> Tracks:
        """Parted between the rows k and k + 1 where `is_cut` [N − 1] holds."""
        is_first = np.concatenate([[True], is_cut | ~self.is_step])
        names = self.names[self.part[is_first]]
        return Tracks(names, np.cumsum(is_first) - 1, self.time, self.values)


def kept(tracks: Tracks, keep: BoolArray, check: str, done: str) -> tuple[Tracks, Finding]:
    """The rows that a mask [N] keeps, and how many there were of the others."""
    count = int(np.count_nonzero(~keep))
    found = f"{count} {'row' if count == 1 else 'rows'}" if count else "none"
    return tracks.where(keep), Finding(check, found, done if count else "")


def split(tracks: Tracks, is_cut: BoolArray, check: str, what: str) -> tuple[Tracks, Finding]:
    """Parts of tracks between their cuts [N − 1], and how many cuts there were."""
    parts = tracks.cut(is_cut)
    count = len(parts) - len(tracks)
    finding = Finding(check, f"{count or 'none'} {what}", "split there" if count else "")
    return parts.where(np.ones(len(parts.time), dtype=bool)), finding


def resampled(tracks: Tracks, period: float) -> Tracks:
    """Rows `period` seconds apart, interpolated linearly."""
    parts = []
    for track in tracks:
        name, time, values = str(track.names[0]), track.time, track.values
        if not np.allclose(track.took, period, rtol=1e-3):
            num_rows = (time[-1] - time[0]) / period + 1
            if num_rows > 50_000_000:
                raise BadDataset(f"{name}: {num_rows:.3g} rows at a step of {period:g} s are too many")
            time = time[0] + period * np.arange(int(np.floor(num_rows + 1e-6)))
            values = np.stack([np.interp(time, track.time, column) for column in values.T], axis=1)
        parts.append((name, time, values))
    return Tracks.joined(parts)


def are_moves(lengths: NDArray[Any], usual: float | None = None) -> BoolArray:
    """[n] whether ways or speeds are moves, and not the wandering of what stands still: more than a tenth of
    a usual one, which is that of the fastest tenth unless given."""
    if len(lengths) == 0:
        return np.zeros(0, dtype=bool)
    return np.asarray(lengths > 0.1 * (np.quantile(lengths, 0.9) if usual is None else usual))


def jump_bound(lengths: NDArray[Any]) -> float:
    """What a step must exceed to be a jump: five times what all but the longest hundredth reach, since
    teleports and faults are rarer than that, and no body moves so unevenly."""
    return 5.0 * float(np.quantile(lengths, 0.99, method="lower"))


def usual_speed(tracks: Tracks) -> float:
    """Units per second that most of the way was gone at or below, jumps and standing left out."""
    around = np.nan_to_num(np.pad(tracks.speeds, 1), nan=0.0, posinf=np.inf)
    beside = np.maximum(around[2:], around[:-2])
    is_alone = np.pad(~tracks.is_step, 1, constant_values=True)
    # A step is no jump where the one before or after it is not much slower, or where there is neither.
    is_steady = (tracks.speeds <= 5.0 * beside) | (tracks.is_step & is_alone[2:] & is_alone[:-2])
    speeds, hops = tracks.speeds[is_steady], tracks.hops[is_steady]
    if len(speeds) == 0:
        return 0.0
    order = np.argsort(speeds)
    gone = np.cumsum(hops[order])
    return float(speeds[order][np.searchsorted(gone, 0.75 * gone[-1])])


def moving_steps(tracks: Tracks) -> BoolArray:
    """[N − 1] whether steps move; all of them where none does."""
    moving = are_moves(tracks.speeds, usual_speed(tracks))
    return moving if moving.any() else tracks.is_step


def median_period(tracks: Tracks) -> float:
    """Seconds from a row to the next, where bodies move: receivers may report less often while they stand."""
    return float(np.median(tracks.took[moving_steps(tracks)]))


def median_move(tracks: Tracks) -> float:
    """Units from a row to the next, where bodies move."""
    return float(np.median(tracks.hops[moving_steps(tracks)]))


def moves_across(tracks: Tracks) -> float:
    """Usual moves from one end of the world to the other."""
    width = float(np.linalg.norm(np.diff(np.quantile(tracks.places, (0.01, 0.99), axis=0), axis=0)))
    move = median_move(tracks)
    return width / move if move > 0 else 0.0


def rows_to_see_a_move(tracks: Tracks) -> int:
    """Rows until moves are not lost in noise: two of them lead nine tenths as far as they are long; 1 where
    no number of rows does."""
    for lag in (1, 2, 3, 5, 8, 12, 20, 30):
        before, after = _around(tracks, lag)
        along = np.linalg.norm(before, axis=1) + np.linalg.norm(after, axis=1)
        moving = are_moves(along)
        across = np.linalg.norm(before + after, axis=1)
        if moving.any() and np.median(across[moving] / along[moving]) >= 0.9:
            return lag
    return 1


def _around(tracks: Tracks, lag: int) -> tuple[FloatArray, FloatArray]:
    """[n, 2] the ways from `lag` rows before a row to it, and on to `lag` rows after, of rows with both."""
    is_inner = tracks.part[2 * lag :] == tracks.part[: -2 * lag]
    moves = tracks.places[lag:] - tracks.places[:-lag]
    return moves[:-lag][is_inner], moves[lag:][is_inner]


@dataclass(frozen=True)
class Spacing:
    """move: units from row to row in the median; cut: units by which nine of ten lines between rows are off
    the way at most."""

    move: float
    cut: float

    @classmethod
    def of(cls, tracks: Tracks) -> Spacing:
        """Measured by leaving out rows.

        The line between a row's neighbours misses it by twice the cut, for they lie twice as far apart; noise
        adds to that. The line between the next but one misses it by four times the cut and the same noise.
        The smaller of the two estimates is taken.
        """
        moves, cuts = [], []
        for lag in (1, 2):
            before, after = _around(tracks, lag)
            hops = np.minimum(np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1))
            moving, across = are_moves(hops), before + after
            area = np.abs(across[:, 0] * before[:, 1] - across[:, 1] * before[:, 0])
            misses = area / np.maximum(np.linalg.norm(across, axis=1), 1e-12)
            moves.append(float(np.median(hops[moving])) if moving.any() else 0.0)
            cuts.append(float(np.quantile(misses[moving], 0.9)) if moving.any() else 0.0)
        return cls(moves[0], min(cuts[0], max(cuts[1] - cuts[0], 0.0)) / 2)

    @property
    def is_coarse(self) -> bool:
        """Whether lines between rows cut corners by so much of a move that the ways are not known."""
        return self.cut > 0.25 * self.move

    def summary(self, unit: str, advice: str = ": too far to show the ways, record more often") -> str:
        """One line for people, with advice where rows are too far apart; unit: of lengths."""
        move, cut = plainly(self.move), plainly(self.cut)
        shown = f"{move} {unit} apart; lines between them cut corners by up to {cut} {unit}"
        return shown + (advice if self.is_coarse else "")
