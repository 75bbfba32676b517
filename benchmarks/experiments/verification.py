"""Does the denoiser know what nobody does? Pieces of held-out recordings, and planted ones nobody made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import islice
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.case import Case
from benchmarks.experiments import city, strait
from benchmarks.mazes import maze_of
from benchmarks.references import geodesic_matrix
from benchmarks.report.tables import Entry, Sheet, by
from benchmarks.suite import Request, Suite
from benchmarks.trials import Trial, figures_of
from benchmarks.worlds.lanes import at_distances
from benchmarks.worlds.strait import STRAIT
from benchmarks.worlds.trips import units
from chronoforest.data.episodes import load
from chronoforest.errors import BadDataset
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.variants import VARIANTS, prepare
from chronoforest.presets.loading import PresetPlanner
from chronoforest.roadmap.verify import Checker
from chronoforest.types import FloatArray, lengths_along, path_length

GIANT, ANTS = "pointmaze-giant-stitch-v0", "antmaze-giant-stitch-v0"
KINDS = {
    GIANT: ("driven", "bulged", "across"),
    ANTS: ("driven", "bulged", "across"),
    strait.PRESET: ("driven", "bulged", "across", "reversed", "turned", "crossed"),
    city.PRESET: ("driven", "held out", "bulged", "reversed", "turned"),
}
"""What is asked of each world. Driven pieces are of held-out recordings; in the city they lead along streets
that three trips or more took, since one that was held out may have been where nothing was learned. Bulged
ones are driven but for a bulge aside, across ones straight lines through walls. Turned ones leave one way for
another where the two meet and no recording does so, crossed ones where the two do not join."""

BULGES = {city.PRESET: (60.0, 100.0)}
"""Units that a piece is bulged aside, in the city metres; 3 to 5 elsewhere."""

EPISODES, BATCH = 15, 20  # batches of pieces of every kind, and pieces in each
SHORTEST = 0.6  # pieces are between this share of the longest one and all of it long
WAY_ROUND = 2.0  # times the length of a line through walls that the way round is long at least

NUM_TRIES = 100_000
SHARPEST, BLUNTEST = 40.0, 140.0  # degrees between two ways that cross

IsPlanted = Callable[[FloatArray], bool]


def _any(_: FloatArray) -> bool:
    return True


@dataclass(frozen=True)
class PieceFigures:
    """How many pieces of a kind were asked about, how many of them density or headings refute before the
    denoiser is asked, and how many it refutes of the others."""

    kind: str
    num_pieces: int
    num_before: int
    num_by_motion: int


def cases(request: Request) -> list[Case]:
    """Batches of pieces of every kind, since many are asked about at once."""
    return [
        Case("verification", PlannerChoice(preset), 0, episode, seed, "verified", instance=kind)
        for preset, kinds in KINDS.items()
        for kind in kinds
        for seed in range(request.repeats or 1)
        for episode in range(request.episodes or EPISODES)
    ]


def refute(case: Case, planner: PresetPlanner) -> Trial:
    """How many pieces of a kind are refuted, and by what."""
    checker = checker_of(planner)
    rng = np.random.default_rng([case.seed, case.episode])
    pieces = Pieces(held_out(case.choice.data, case.preset, planner), checker.piece_length, rng)
    drawn = [planner.frame.to_local(piece) for piece in _drawn(pieces, case)]
    found = checker.settled(drawn, VARIANTS["verified"].piece_samples, rng)
    by_motion = sum(piece.refuted_by == "motion" for piece in found)
    before = sum(piece.refuted_by in ("support", "heading") for piece in found)
    return Trial(case, plan=None, figures=PieceFigures(case.instance, len(found), before, by_motion))


def _drawn(pieces: Pieces, case: Case) -> list[FloatArray]:
    """Pieces of the kind of a case."""
    is_planted, preset = _judge(case), case.preset
    known = city.known_city(case.choice.data / city.FOLDER) if preset == city.PRESET else None
    if case.instance == "across":
        return pieces.across(BATCH, is_planted)
    if case.instance == "reversed":
        return [one[::-1] for one in pieces.driven(BATCH, lambda piece: is_planted(piece[::-1]))]
    if case.instance == "bulged":
        return pieces.bulged(BATCH, BULGES.get(case.preset, (3.0, 5.0)), is_planted)
    is_wanted: IsPlanted = _is_crossed if case.instance == "crossed" else _is_turned
    if case.instance in ("turned", "crossed"):
        return pieces.changing(BATCH, (lambda way: not known.turns(way).all()) if known else is_wanted)
    if known is not None and case.instance == "driven":  # along a recorded street
        return pieces.driven(BATCH, lambda piece: known.trips.num_followed(piece) >= city.LEAST_PASSES)
    return pieces.driven(BATCH)


@cache
def checker_of(planner: PresetPlanner) -> Checker:
    """What a planner verifies ways with, made once."""
    return prepare(planner.models, planner.params, VARIANTS["verified"]).checker


def held_out(folder: Path, preset: str, planner: PresetPlanner) -> FloatArray:
    """[E, T, 2] recordings that nothing was learned from, in the coordinates in which they came: those in
    which a planner takes problems, and in which the truth about its world is known."""
    path = folder / f"{preset}-val.npz"
    if not path.is_file():
        raise BadDataset(
            f"{path}: no such file; `python -m benchmarks generate` or `python -m benchmarks record` makes it"
        )
    episodes = load(path)
    tracks = episodes.frame.to_user(episodes.xy.astype(np.float64))
    places = planner.frame.to_local(tracks.reshape(-1, 2))
    is_degrees = any(frame.is_degrees for frame in (episodes.frame, planner.frame))
    if is_degrees or not (planner.models.density.margin(places) > 0).any():
        raise BadDataset(
            f"{path} and the weights of {preset} lie in different frames: the recordings have "
            f"{episodes.frame.summary()}, the weights {planner.frame.summary()}; import both from tracks in "
            "the same plain coordinates, as `python -m benchmarks record` does, and train again"
        )
    return tracks


@dataclass(frozen=True)
class Pieces:
    """Draws pieces up to `longest` units long from recordings [E, T, 2]; fewer than asked for where hardly
    any is wanted."""

    tracks: FloatArray
    longest: float
    rng: np.random.Generator

    def driven(self, count: int, is_wanted: IsPlanted = _any) -> list[FloatArray]:
        """Parts of recordings."""
        return self._found(count, self._part, is_wanted)

    def across(self, count: int, is_wanted: IsPlanted) -> list[FloatArray]:
        """Straight lines between recorded places."""

        def draw() -> FloatArray | None:
            start, end = self._rows[0].data[self.rng.integers(0, self._rows[0].n, 2)]
            is_long = SHORTEST * self.longest <= np.linalg.norm(end - start) <= self.longest
            return np.linspace(start, end, 20) if is_long else None

        return self._found(count, draw, is_wanted)

    def bulged(self, count: int, height: tuple[float, float], is_wanted: IsPlanted) -> list[FloatArray]:
        """Parts of recordings with a bulge aside, in each of three shapes."""

        def draw() -> FloatArray | None:
            part = self._part()
            return None if part is None else bulged(part, self.rng.uniform(*height), self.rng)

        return self._found(count, draw, is_wanted)

    def changing(self, count: int, is_wanted: IsPlanted) -> list[FloatArray]:
        """Pieces that go along one recording and then along another that crosses it."""
        pieces = []
        for way in self._found(count, self._change, is_wanted):
            half, total = 0.5 * self._length(), path_length(way)
            pieces.append(at_distances(way, np.linspace(total / 2 - half, total / 2 + half, 40)))
        return pieces

    def _found(
        self, count: int, draw: Callable[[], FloatArray | None], is_wanted: IsPlanted
    ) -> list[FloatArray]:
        drawn = (draw() for _ in range(NUM_TRIES))
        return list(islice((one for one in drawn if one is not None and is_wanted(one)), count))

    def _part(self) -> FloatArray | None:
        track = self.tracks[self.rng.integers(len(self.tracks))]
        first = int(self.rng.integers(0, len(track) - 2))
        along = lengths_along(track[first:])
        last = int(np.searchsorted(along, self._length()))
        return track[first : first + last + 1] if 2 <= last < len(along) else None

    def _length(self) -> float:
        return self.longest * self.rng.uniform(SHORTEST, 1.0)

    @cached_property
    def _rows(self) -> tuple[cKDTree, FloatArray]:
        """All recorded places, and [n, 2] the directions there."""
        ahead = np.gradient(self.tracks, axis=1).reshape(-1, 2)
        return cKDTree(self.tracks.reshape(-1, 2)), units(ahead)

    def _change(self) -> FloatArray | None:
        """[n, 2] along one recording and then, after a rounded corner, along one that crosses it, the longest
        piece before and after."""
        tree, ahead = self._rows
        row = int(self.rng.integers(tree.n))
        near = np.array(tree.query_ball_point(tree.data[row], 0.1 * self.longest))
        angle = np.degrees(np.arccos(np.clip(ahead[near] @ ahead[row], -1.0, 1.0)))
        near = near[(angle > SHARPEST) & (angle < BLUNTEST)]
        if len(near) == 0:
            return None
        (before, at), (after, on) = (
            divmod(k, self.tracks.shape[1]) for k in (row, int(self.rng.choice(near)))
        )
        come, go = self.tracks[before, : at + 1], self.tracks[after, on:]
        corner = 0.15 * self.longest
        if min(path_length(come), path_length(go)) < self.longest:
            return None
        come, go = (at_distances(way, np.linspace(corner, self.longest, 20)) for way in (come[::-1], go))
        share, middle = np.linspace(0.0, 1.0, 9)[1:-1, None], tree.data[row]
        bend = (1 - share) ** 2 * come[0] + 2 * share * (1 - share) * middle + share**2 * go[0]
        return np.concatenate([come[::-1], bend, go])


def bulged(piece: FloatArray, height: float, rng: np.random.Generator) -> FloatArray:
    """[40, 2] a piece whose middle lies `height` units aside: as a bow, a plateau with slopes, or a sudden
    one."""
    way = at_distances(piece, np.linspace(0.0, path_length(piece), 40))
    share, chord = np.linspace(0.0, 1.0, 40), units(piece[-1:] - piece[:1])[0]
    shapes = (
        np.sin(np.pi * share),
        np.clip(4.0 * np.minimum(share, 1.0 - share), 0.0, 1.0),
        (np.abs(share - 0.5) < 0.17).astype(np.float64),
    )
    aside = rng.choice([-1.0, 1.0]) * np.array([-chord[1], chord[0]])
    return np.asarray(way + height * shapes[rng.integers(len(shapes))][:, None] * aside)


def _judge(case: Case) -> IsPlanted:
    """Whether nobody makes a piece, by the truth about its world."""
    if case.preset == strait.PRESET:
        return partial(_is_off_lanes, share=0.0 if case.instance == "bulged" else 0.5)
    if case.preset == city.PRESET:
        known = city.known_city(case.choice.data / city.FOLDER)
        if case.instance == "bulged":
            return lambda piece: known.trips.num_followed(piece) == 0
        return lambda piece: known.judge(piece).against > 0.5 * path_length(piece)
    maze = maze_of(case.preset)
    if case.instance == "bulged":
        return maze.crosses_wall
    # A line through walls whose ends are no corner apart: the way round is much longer.
    return lambda piece: (
        maze.crosses_wall(piece)
        and bool(geodesic_matrix(maze, piece[[0, -1]])[0, 1] > WAY_ROUND * path_length(piece))
    )


def _is_off_lanes(piece: FloatArray, share: float) -> bool:
    """Whether more than a share of a piece lies off all lanes, or, where it is no bulge, against one."""
    verdict = STRAIT.judge(piece)
    return verdict.num_off + (verdict.num_against if share else 0) > share * verdict.num_pieces


def _is_changed(way: FloatArray, meets: bool) -> bool:
    """A way that is on a link at both ends makes one change that no ship makes, between links that meet at a
    place, or of which one passes over the other."""
    near = STRAIT.links_along(way)
    if not (near[0] and near[-1]):
        return False
    found = STRAIT.unrecorded_changes(way, min(near[0]), min(near[-1]))
    return len(found) == 1 and bool({*found[0][0]} & {*found[0][1]}) == meets


_is_turned, _is_crossed = partial(_is_changed, meets=True), partial(_is_changed, meets=False)


def verification_table(trials: Sequence[Trial]) -> list[Sheet]:
    """Shares of pieces that are refuted, of every kind in every world."""
    groups = by(trials, lambda trial: f"{trial.case.preset}: {trial.case.instance}")
    counts = {}
    for label, own in groups.items():  # all batches together
        found = ((f.num_pieces, f.num_before, f.num_by_motion) for f in figures_of(own, PieceFigures))
        counts[label] = PieceFigures("", *map(sum, zip(*found, strict=True)))
    notes = (
        "Driven pieces are from held-out recordings; nobody makes the others.",
        "In the city three trips or more went the way of a driven piece; held-out ones may be anywhere.",
        "Of the rest: of those that density and headings let pass, what the denoiser refutes.",
    )
    return [Sheet.of("verification", "Pieces that are refuted, %", "", counts, COLUMNS, notes)]


def _share(count: int, total: int) -> Entry:
    return Entry.of_share(k < count for k in range(total))


COLUMNS: dict[str, Callable[[PieceFigures], Entry]] = {
    "pieces": lambda one: Entry.of_value(one.num_pieces, one.num_pieces, digits=0),
    "refuted": lambda one: _share(one.num_before + one.num_by_motion, one.num_pieces),
    "by density and headings": lambda one: _share(one.num_before, one.num_pieces),
    "of the rest by the denoiser": lambda one: _share(one.num_by_motion, one.num_pieces - one.num_before),
}


SUITE = Suite(
    "verification",
    "driven pieces and planted ones",
    cases,
    refute,
    verification_table,
    figures=(PieceFigures,),
)
