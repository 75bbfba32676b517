"""Does the denoiser know what nobody does? Hops of held-out recordings, and planted ones that nobody made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.suites import city, strait
from benchmarks.worlds.strait import STRAIT
from chronoforest.bench.case import Case
from chronoforest.bench.references import geodesic_matrix
from chronoforest.bench.suite import Request, Suite
from chronoforest.bench.trials import Trial
from chronoforest.data.episodes import load
from chronoforest.envs.mazes import Maze
from chronoforest.envs.tasks import world
from chronoforest.errors import BadDataset
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.preparation import prepare
from chronoforest.planning.variants import VARIANTS
from chronoforest.roadmap.verify import Checker
from chronoforest.types import FloatArray, lengths_along, path_length

if TYPE_CHECKING:
    from chronoforest.presets.loading import PresetPlanner

GIANT = "pointmaze-giant-stitch-v0"
KINDS = {
    GIANT: ("driven", "across"),
    strait.PRESET: ("driven", "across", "reversed"),
    city.PRESET: ("driven", "held out", "reversed"),
}
"""What is asked of each world; in the city a straight line may well be a street that no trip took, and a trip
that was held out may have been where nothing was learned: driven hops lead along recorded streets."""

EPISODES, BATCH = 10, 20
"""Batches of hops of every kind, and hops in each."""

SHORTEST = 0.6
"""Hops are between this share of the longest piece and all of it long."""

WAY_ROUND = 2.0
"""Times the length of a line through walls that the way round is long at least."""

NUM_TRIES = 100_000

IsPlanted = Callable[[FloatArray], bool]


def cases(request: Request) -> list[Case]:
    """Batches of hops of every kind, since many are asked about at once."""
    return [
        Case(
            "verification",
            PlannerChoice(preset),
            episode=episode,
            seed=seed,
            variant="verified",
            instance=kind,
        )
        for preset, kinds in KINDS.items()
        for kind in kinds
        for seed in range(request.repeats or 1)
        for episode in range(request.episodes or EPISODES)
    ]


def refute(case: Case, planner: PresetPlanner) -> Trial:
    """How many hops of a kind are refuted."""
    checker = _checker(planner)
    rng = np.random.default_rng([case.seed, case.episode])
    hops = Hops(held_out(case.choice.data, case.preset, planner), checker.piece_length, rng)
    pieces = _drawn(hops, case.instance, BATCH, _judge(case), _is_recorded(case))
    refuted = num_refuted(checker, [planner.frame.to_local(piece) for piece in pieces], rng)
    return Trial(
        case, plan=None, measures={"kind": case.instance, "num_hops": len(pieces), "num_refuted": refuted}
    )


def _drawn(
    hops: Hops, kind: str, count: int, is_planted: IsPlanted, is_recorded: IsPlanted | None = None
) -> list[FloatArray]:
    """Hops of a kind."""
    if kind == "across":
        return hops.across(count, is_planted)
    if kind == "reversed":
        return [piece[::-1] for piece in hops.driven(count, lambda piece: is_planted(piece[::-1]))]
    return hops.driven(count, is_recorded if kind == "driven" else None)


@cache
def _checker(planner: PresetPlanner) -> Checker:
    """What a planner verifies ways with, made once."""
    return prepare(planner.models, planner.params, VARIANTS["verified"]).checker


def num_refuted(checker: Checker, pieces: Sequence[FloatArray], rng: np.random.Generator) -> int:
    """Pieces that no segment realises in as many tries as a plan makes."""
    left = list(pieces)
    for num_samples in checker.tries(VARIANTS["verified"].piece_samples):
        verdicts = checker(left, num_samples, rng)
        left = [piece for piece, verdict in zip(left, verdicts, strict=True) if not verdict.is_verified]
    return len(left)


def held_out(folder: Path, preset: str, planner: PresetPlanner) -> FloatArray:
    """[E, T, 2] recordings that nothing was learned from, in the coordinates in which they came: those in
    which a planner takes problems, and in which the truth about its world is known."""
    path = folder / f"{preset}-val.npz"
    if not path.is_file():
        raise BadDataset(
            f"{path}: no such file; `chronoforest data generate` or `python -m benchmarks record` makes it"
        )
    episodes = load(path)
    tracks = episodes.frame.to_user(episodes.xy.astype(np.float64))
    if any(frame.is_degrees for frame in (episodes.frame, planner.frame)) or not _is_near(tracks, planner):
        raise BadDataset(
            f"{path} and the weights of {preset} lie in different frames: the recordings have "
            f"{episodes.frame.summary()}, the weights {planner.frame.summary()}; import both from tracks in "
            "the same plain coordinates, as `python -m benchmarks record` does, and train again"
        )
    return tracks


def _is_near(tracks: FloatArray, planner: PresetPlanner) -> bool:
    """Whether any of the recordings [E, T, 2] comes to where a planner's models were learned."""
    places = planner.frame.to_local(tracks.reshape(-1, 2))
    return bool((planner.models.density.margin(places) > 0).any())


@dataclass(frozen=True)
class Hops:
    """Draws hops up to `longest` units long from recordings [E, T, 2]."""

    tracks: FloatArray
    longest: float
    rng: np.random.Generator

    def driven(self, count: int, is_wanted: IsPlanted | None = None) -> list[FloatArray]:
        """Parts of recordings; fewer than `count` where hardly any is wanted."""
        found: list[FloatArray] = []
        for _ in range(NUM_TRIES):
            track = self.tracks[self.rng.integers(len(self.tracks))]
            first = int(self.rng.integers(0, len(track) - 2))
            along = lengths_along(track[first:])
            last = int(np.searchsorted(along, self.longest * self.rng.uniform(SHORTEST, 1.0)))
            piece = track[first : first + last + 1]
            if 2 <= last < len(along) and (is_wanted is None or is_wanted(piece)):
                found.append(piece)
            if len(found) == count:
                break
        return found

    def across(self, count: int, is_wanted: IsPlanted) -> list[FloatArray]:
        """Straight lines between recorded places."""
        found: list[FloatArray] = []
        places = self.tracks.reshape(-1, 2)
        for _ in range(NUM_TRIES):
            start, end = places[self.rng.integers(0, len(places), 2)]
            gap = float(np.linalg.norm(end - start))
            if SHORTEST * self.longest <= gap <= self.longest and is_wanted(np.linspace(start, end, 20)):
                found.append(np.linspace(start, end, 20))
            if len(found) == count:
                break
        return found


def _judge(case: Case) -> IsPlanted:
    """Whether nobody makes a hop, by the truth about its world."""
    if case.preset == strait.PRESET:
        return _is_off_lanes
    if case.preset == city.PRESET:
        return lambda piece: _is_against_trips(piece, case.choice.data)
    return lambda piece: _is_behind_walls(piece, world(case.preset).maze)


def _is_recorded(case: Case) -> IsPlanted | None:
    """Whether a hop leads along a recorded street, in the city; elsewhere all that was driven does."""
    if case.preset != city.PRESET:
        return None
    known = city.known_city(case.choice.data / city.FOLDER)
    return lambda piece: known.trips.num_followed(piece) >= city.LEAST_PASSES


def _is_behind_walls(piece: FloatArray, maze: Maze) -> bool:
    """A line through walls whose ends are no corner apart: the way round is much longer."""
    if not maze.crosses_wall(piece):
        return False
    return bool(geodesic_matrix(maze, piece[[0, -1]])[0, 1] > WAY_ROUND * path_length(piece))


def _is_off_lanes(piece: FloatArray) -> bool:
    verdict = STRAIT.judge(piece)
    return verdict.num_against + verdict.num_off > 0.5 * verdict.num_pieces


def _is_against_trips(piece: FloatArray, folder: Path) -> bool:
    found = city.known_city(folder / city.FOLDER).judge(piece)
    return found.against > 0.5 * found.length


SUITE = Suite("verification", "driven hops and planted ones", cases, refute, seconds=60.0)
