"""Whether recordings allow any planning: which places can be reached from which, and what to record next.

The world is divided into blocks; a recording that moves from one block to another shows that it can be done.
Nothing is learned for it, so it is known before any training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.spatial import cKDTree

from chronoforest.data.episodes import Episodes
from chronoforest.data.frames import Frame, plainly
from chronoforest.types import FloatArray, IntArray


@dataclass(frozen=True)
class Wish:
    """What to record next: from one place [2] to another, because `why`; num_blocks: that it would join."""

    source: FloatArray
    target: FloatArray
    num_blocks: int
    why: str


@dataclass(frozen=True, eq=False)
class Reach:
    """Blocks that recordings visited and moved between.

    places: [n, 2] amid the visits to each block; num_recordings: [n] that came by; moves: [n, n] sparse, not
    0 where one can go from a block to another; longest_hop: [2, 2] the two rows of a recording that lie
    farthest apart, jumps left out; block: edge length.
    """

    places: FloatArray
    num_recordings: IntArray
    moves: csr_array
    longest_hop: FloatArray
    block: float

    @cached_property
    def part(self) -> IntArray:
        """[n] which blocks can reach each other, there and back; part 0 is the largest."""
        labels = connected_components(self.moves, connection="strong")[1]
        order = np.argsort(-np.bincount(labels), kind="stable")
        return np.asarray(np.argsort(order)[labels])

    @cached_property
    def pair_share(self) -> float:
        """Share of ordered pairs of blocks of which the second can be reached from the first."""
        num_blocks = len(self.places)
        sources = np.random.default_rng(0).permutation(num_blocks)[:1000]
        reached = [len(_reached(self.moves, int(source))) - 1 for source in sources]
        return float(np.mean(reached)) / (num_blocks - 1) if num_blocks > 1 else 1.0

    @property
    def verdict(self) -> Literal["good", "fair", "poor"]:
        """Whether planning between any two places can work."""
        return "good" if self.pair_share >= 0.95 else "fair" if self.pair_share >= 0.8 else "poor"

    @cached_property
    def wishes(self) -> tuple[Wish, ...]:
        """What would join the largest other parts to the main one, the largest first."""
        return tuple(self._wishes())

    def _wishes(self, most: int = 3) -> Iterator[Wish]:
        main, away = np.flatnonzero(self.part == 0), np.flatnonzero(self.part != 0)
        leaves, returns = _reached(self.moves, main[0]), _reached(csr_array(self.moves.T), main[0])
        apart, nearest = cKDTree(self.places[main]).query(self.places)
        labels = connected_components(self.moves[away][:, away], directed=False)[1]
        for label in np.argsort(-np.bincount(labels), kind="stable")[:most] if len(away) else ():
            group = away[labels == label]
            near, far = group[np.argmin(apart[group])], group[np.argmax(apart[group])]
            here, there = self.places[main[nearest[far]]], self.places[far]
            if near in leaves:
                yield Wish(there, here, len(group), "there is a way in and none back")
            elif near in returns:
                yield Wish(here, there, len(group), "there is a way out and none in")
            else:
                here, there = self.places[main[nearest[near]]], self.places[near]
                yield Wish(here, there, len(group), "nothing was recorded between them")

    def lines(self, frame: Frame, kind: str) -> Iterator[tuple[str, str]]:
        """What to tell people, name and value; kind: of the world, in words."""
        unit, sizes, (first, second) = frame.unit, np.bincount(self.part), self.longest_hop
        share, main = 100 * self.pair_share, 100 * sizes[0] / len(self.places)
        thin = 100 * float((self.num_recordings == 1).mean())
        blocks = f"{len(self.places)} places of {plainly(self.block)} {unit}"
        shown = {
            "reach": f"{self.verdict}: {share:.0f} % of pairs of places can reach each other; {kind}",
            "parts": f"{len(sizes)}, the largest with {main:.0f} % of {blocks}",
            "longest hop": f"{_apart(first, second)} {unit} between two rows, from {frame.show_local(first)}",
            "thin": f"{thin:.0f} % of the places were passed by one recording alone",
        }
        yield from shown.items()
        for wish in self.wishes:
            ends = f"from {frame.show_local(wish.source)} to {frame.show_local(wish.target)}"
            far = f"{_apart(wish.source, wish.target)} {unit}"
            yield "record next", f"{ends}, {far}: {wish.why} ({wish.num_blocks} places)"


def survey(episodes: Episodes, block: float, is_reversible: bool) -> Reach:
    """Divide the world into blocks of an edge length and see what recordings show.

    is_reversible: what was done once can be done backward, and between blocks that touch one can go.
    """
    start, end, owner = _steps(episodes)
    hops = np.linalg.norm(end - start, axis=1)
    # Two points in the length of a block, so that none on the way is skipped.
    counts = np.ceil(2.0 * hops / block).astype(np.int64) + 1
    step = np.repeat(np.arange(len(hops)), counts)
    number = np.arange(len(step)) - np.repeat(np.cumsum(counts) - counts, counts)
    points = start[step] + (number / np.maximum(counts[step] - 1, 1))[:, None] * (end - start)[step]
    corners = np.floor(points / block).astype(np.int64)
    corners -= corners.min(axis=0)
    width = int(corners[:, 1].max()) + 1
    blocks, node = np.unique(corners[:, 0] * width + corners[:, 1], return_inverse=True)
    count = len(blocks)
    passes = np.unique(node * (int(owner.max()) + 1) + owner[step]) // (int(owner.max()) + 1)
    is_next = np.diff(step) == 0
    links = np.unique(node[:-1][is_next] * count + node[1:][is_next])
    moves = csr_array((np.ones(len(links)), np.divmod(links, count)), shape=(count, count))
    if is_reversible:
        touching = cKDTree(np.stack(np.divmod(blocks, width), axis=1)).query_pairs(1.5, output_type="ndarray")
        moves = moves + csr_array((np.ones(len(touching)), touching.T), shape=(count, count))
        moves = csr_array(moves + moves.T)
    sums = [np.bincount(node, axis) for axis in points.T]
    farthest = int(np.argmax(hops))
    return Reach(
        places=np.stack(sums, axis=1) / np.bincount(node)[:, None],
        num_recordings=np.bincount(passes, minlength=count),
        moves=moves,
        longest_hop=np.stack([start[farthest], end[farthest]]),
        block=block,
    )


def _steps(episodes: Episodes) -> tuple[FloatArray, FloatArray, IntArray]:
    """[n, 2] from where and [n, 2] to where every step goes, and [n] the recording; jumps are left out."""
    recording = np.arange(len(episodes)) if episodes.recording is None else episodes.recording
    xy, is_walked = episodes.xy.astype(np.float64), episodes.step_lengths <= episodes.jump
    owner = np.repeat(recording[:, None], episodes.num_steps - 1, axis=1)
    return xy[:, :-1][is_walked], xy[:, 1:][is_walked], owner[is_walked]


def _reached(moves: csr_array, block: int) -> IntArray:
    """Blocks that can be reached from one."""
    return np.asarray(breadth_first_order(moves, block, return_predecessors=False))


def _apart(source: FloatArray, target: FloatArray) -> str:
    return plainly(float(np.linalg.norm(target - source)))


def gaps(tracks: FloatArray, recording: IntArray | None = None) -> FloatArray:
    """[n] units from some places of tracks [E, T, d] to the nearest place of another recording; no less where
    none was found nearby.

    recording: [E] which one a track belongs to, each is its own where that is not given.
    """
    owner = np.repeat(np.arange(len(tracks)) if recording is None else recording, tracks.shape[1])
    places = tracks.reshape(-1, tracks.shape[-1])
    probes = np.linspace(0, len(places) - 1, min(2000, len(places))).astype(np.int64)
    apart, rows = cKDTree(places).query(places[probes], k=np.arange(1, min(400, len(places)) + 1))
    nearest = np.where(owner[rows] != owner[probes][:, None], apart, np.inf).min(axis=1)
    return np.where(np.isfinite(nearest), nearest, apart[:, -1])
