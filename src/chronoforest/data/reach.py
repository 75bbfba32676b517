"""Whether recordings allow any planning: which places can be reached from which, and what to record next.

The world is divided into blocks; a recording that moves from one block to another shows that it can be done.
Nothing is learned for it, so it can be told before any training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.spatial import cKDTree

from chronoforest.data.blocks import visited
from chronoforest.data.episodes import Episodes
from chronoforest.data.frames import Frame, plainly
from chronoforest.types import BoolArray, FloatArray, IntArray

NUM_SOURCES = 200
"""Blocks from which reachable ones are counted."""

MOST_WISHES = 3

GOOD, FAIR = 0.95, 0.8
"""Share of pairs that can reach each other."""


@dataclass(frozen=True)
class Wish:
    """What to record next: from one place [2] to another, because `why`; num_blocks: that it would join."""

    source: FloatArray
    target: FloatArray
    num_blocks: int
    why: str

    @property
    def length(self) -> float:
        """Straight, in units of the plane."""
        return float(np.linalg.norm(self.target - self.source))


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
        count, labels = connected_components(self.moves, directed=True, connection="strong")
        order = np.argsort(-np.bincount(labels, minlength=count), kind="stable")
        ranks = np.empty(count, dtype=np.int64)
        ranks[order] = np.arange(count)
        return np.asarray(ranks[labels], dtype=np.int64)

    @cached_property
    def part_sizes(self) -> IntArray:
        """Blocks in each part."""
        return np.bincount(self.part)

    @cached_property
    def pair_share(self) -> float:
        """Share of ordered pairs of blocks of which the second can be reached from the first."""
        num_blocks = len(self.places)
        if num_blocks < 2:
            return 1.0
        rng = np.random.default_rng(0)
        sources = rng.permutation(num_blocks)[:NUM_SOURCES]
        reached = [len(self._from(int(source))) - 1 for source in sources]
        return float(np.mean(reached)) / (num_blocks - 1)

    @property
    def thin_share(self) -> float:
        """Share of blocks that a single recording came by."""
        return float((self.num_recordings == 1).mean())

    @property
    def verdict(self) -> Literal["good", "fair", "poor"]:
        """Whether planning between any two places can work."""
        if self.pair_share >= GOOD:
            return "good"
        return "fair" if self.pair_share >= FAIR else "poor"

    def lines(self, frame: Frame, kind: str) -> Iterator[tuple[str, str]]:
        """What to tell people, name and value; kind: of the world, in words."""
        unit = frame.unit
        share, main = 100 * self.pair_share, 100 * self.part_sizes[0] / len(self.places)
        hop = float(np.linalg.norm(self.longest_hop[1] - self.longest_hop[0]))
        yield "reach", f"{self.verdict}: {share:.0f} % of pairs of places can reach each other; {kind}"
        yield (
            "parts",
            (
                f"{len(self.part_sizes)}, the largest with {main:.0f} % of {len(self.places)} places "
                f"of {plainly(self.block)} {unit}"
            ),
        )
        yield (
            "longest hop",
            f"{plainly(hop)} {unit} between two rows, from {frame.show_local(self.longest_hop[0])}",
        )
        yield "thin", f"{100 * self.thin_share:.0f} % of the places were passed by one recording alone"
        for wish in self.wishes:
            ends = f"from {frame.show_local(wish.source)} to {frame.show_local(wish.target)}"
            yield (
                "record next",
                f"{ends}, {plainly(wish.length)} {unit}: {wish.why} ({wish.num_blocks} places)",
            )

    @cached_property
    def wishes(self) -> tuple[Wish, ...]:
        """What would join the largest other parts to the main one, the largest first."""
        return tuple(self._wishes())

    def _wishes(self) -> Iterator[Wish]:
        main, away = np.flatnonzero(self.part == 0), np.flatnonzero(self.part != 0)
        leaves = _mask(self._from(int(main[0])), len(self.places))
        returns = _mask(self._from(int(main[0]), backward=True), len(self.places))
        apart, nearest = cKDTree(self.places[main]).query(self.places)
        for group in _largest(away, connected_components(self.moves[away][:, away], directed=False)[1]):
            near, far = group[np.argmin(apart[group])], group[np.argmax(apart[group])]
            here = self.places[main[nearest[far]]]
            if leaves[near]:
                yield Wish(self.places[far], here, len(group), "there is a way in and none back")
            elif returns[near]:
                yield Wish(here, self.places[far], len(group), "there is a way out and none in")
            else:
                here = self.places[main[nearest[near]]]
                yield Wish(here, self.places[near], len(group), "nothing was recorded between them")

    def _from(self, block: int, backward: bool = False) -> IntArray:
        """Blocks that can be reached from one, or from which it can be reached."""
        moves = self._backward if backward else self.moves
        return np.asarray(breadth_first_order(moves, block, directed=True, return_predecessors=False))

    @cached_property
    def _backward(self) -> csr_array:
        return csr_array(self.moves.T)


def survey(episodes: Episodes, block: float, is_reversible: bool) -> Reach:
    """Divide the world into blocks of an edge length and see what recordings show.

    is_reversible: what was done once can be done backward, and between blocks that touch one can go.
    """
    start, end, owner = _steps(episodes)
    hops = np.linalg.norm(end - start, axis=1)
    visits = visited(start, end, owner, block)
    count, links = len(visits.blocks), visits.links
    if is_reversible:
        links = np.concatenate([links, links[::-1], _touching(visits.cells)], axis=1)
    farthest = int(np.argmax(hops))
    return Reach(
        places=visits.sums / visits.counts[:, None],
        num_recordings=np.bincount(visits.passes[0], minlength=count),
        moves=_graph(links, count),
        longest_hop=np.stack([start[farthest], end[farthest]]),
        block=block,
    )


def _steps(episodes: Episodes) -> tuple[FloatArray, FloatArray, IntArray]:
    """[n, 2] from where and [n, 2] to where every step goes, and [n] the recording; jumps are left out."""
    recording = np.arange(len(episodes)) if episodes.recording is None else episodes.recording
    xy, is_walked = episodes.xy.astype(np.float64), episodes.step_lengths <= episodes.jump
    owner = np.repeat(recording[:, None], episodes.num_steps - 1, axis=1)
    return xy[:, :-1][is_walked], xy[:, 1:][is_walked], owner[is_walked]


def _distinct(sources: IntArray, targets: IntArray, count: int) -> IntArray:
    """[2, m] every link between two different blocks once."""
    keys = np.unique(sources * count + targets)
    links = np.stack(np.divmod(keys, count))
    return np.asarray(links[:, links[0] != links[1]])


def _touching(cells: IntArray) -> IntArray:
    """[2, m] both ways between blocks [n, 2] that share an edge or a corner."""
    pairs = cKDTree(cells).query_pairs(1.5, output_type="ndarray").T.astype(np.int64)
    return np.concatenate([pairs, pairs[::-1]], axis=1)


def _graph(links: IntArray, count: int) -> csr_array:
    sources, targets = _distinct(links[0], links[1], count)
    return csr_array(coo_array((np.ones(len(sources)), (sources, targets)), shape=(count, count)))


def _largest(rows: IntArray, labels: IntArray) -> list[IntArray]:
    """Rows in groups of one label, the largest few groups first."""
    if len(rows) == 0:
        return []
    order = np.argsort(-np.bincount(labels), kind="stable")[:MOST_WISHES]
    return [rows[labels == label] for label in order]


def _mask(rows: IntArray, count: int) -> BoolArray:
    mask = np.zeros(count, dtype=bool)
    mask[rows] = True
    return mask
