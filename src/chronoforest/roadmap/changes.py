"""What new recordings say of a world: ways that are new, and ways that are not taken any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.stats import hypergeom

from chronoforest.errors import require_positive, require_within
from chronoforest.roadmap.transitions import Transitions
from chronoforest.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class ChangeParams:
    """around: scales of the position that squares are wide: what passes one, or one next to it, passes beside
    the hops in it; chance: probability below which a hop that some recordings make and others do not is no
    coincidence."""

    around: float = 16.0
    chance: float = 0.001

    def __post_init__(self) -> None:
        require_positive(self, "around")
        require_within(self, 0, 1, "chance")


@dataclass(frozen=True, eq=False)
class Change:
    """Hops [k] in a row that only the earlier recordings make, or only the later ones: where they lie amid
    [d], and their length; count: recordings that make them; passing: that pass beside them, earlier and
    later; chance: probability that all of `count` are of one side by coincidence."""

    is_new: bool
    hops: IntArray
    position: FloatArray
    length: float
    count: int
    passing: tuple[int, int]
    chance: float

    def sentence(self, place: str, unit: str) -> str:
        """The change in words, at a place that is written as its user does."""
        what = "new way" if self.is_new else "way not taken any more"
        side = "later" if self.is_new else "earlier"
        return (
            f"{what} around {place}, {self.length:.0f} {unit} long: {self.count} {side} recordings make it "
            f"and no other; {self.passing[0]} earlier and {self.passing[1]} later ones pass beside it "
            f"(coincidence: {self.chance:.2g})"
        )


def changes(
    position: FloatArray,
    hops: Transitions,
    made: Sequence[IntArray],
    is_later: BoolArray,
    spacing: float,
    params: ChangeParams,
) -> list[Change]:
    """Where earlier and later recordings differ by more than coincidence.

    position: [n, d] of places; made: the numbers of the hops of each recording; is_later: [recordings]. The
    probability is Fisher's: of all recordings beside a hop, those that make it are drawn without regard to
    when they were recorded.
    """
    recording = np.repeat(np.arange(len(made)), [len(one) for one in made])
    numbers = np.concatenate([*made, np.zeros(0, dtype=np.int64)])
    known = numbers >= 0
    makes = _table(numbers[known], recording[known], (len(hops), len(made)))
    cells, cell = np.unique(np.floor(position / (params.around * spacing)), axis=0, return_inverse=True)
    tree = cKDTree(cells)
    near = tree.sparse_distance_matrix(tree, 1.5, output_type="coo_matrix")
    own = np.arange(len(cells))
    around = _table(np.append(near.row, own), np.append(near.col, own), (len(cells), len(cells)))
    begins = _table(cell.ravel()[hops.source], np.arange(len(hops)), (len(cells), len(hops)))
    passes = around @ (begins @ makes)
    earlier, later = (_count(makes[:, keep]) for keep in (~is_later, is_later))
    beside = [_count(passes[:, keep])[cell.ravel()[hops.source]] for keep in (~is_later, is_later)]
    found = []
    for is_new, count, missing, among in ((True, later, earlier, 0), (False, earlier, later, 1)):
        chance = hypergeom.sf(count - 1, beside[0] + beside[1], count, beside[1 - among])
        is_changed = (count > 0) & (missing == 0) & (chance <= params.chance)
        for group in _in_a_row(hops, np.flatnonzero(is_changed), len(position)):
            most = group[np.argmin(chance[group])]
            ends = position[hops.source[group]], position[hops.target[group]]
            found.append(
                Change(
                    is_new,
                    group,
                    np.concatenate(ends).mean(axis=0),
                    float(np.linalg.norm(ends[1] - ends[0], axis=1).sum()),
                    int(count[most]),
                    (int(beside[0][most]), int(beside[1][most])),
                    float(chance[most]),
                )
            )
    return sorted(found, key=lambda change: change.chance)


def _table(rows: IntArray, columns: IntArray, shape: tuple[int, int]) -> csr_matrix:
    return csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)


def _count(table: csr_matrix) -> IntArray:
    """[rows] columns that are not 0."""
    return np.diff(csr_matrix(table).indptr).astype(np.int64)


def _in_a_row(hops: Transitions, chosen: IntArray, num_places: int) -> list[IntArray]:
    """Some hops by their numbers, those together that join each other."""
    ends = hops.source[chosen], hops.target[chosen]
    graph = _table(*ends, (num_places, num_places))
    part = connected_components(graph, directed=False)[1][ends[0]]
    return [chosen[part == number] for number in np.unique(part)]
