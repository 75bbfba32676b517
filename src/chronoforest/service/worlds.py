"""The worlds that are served: the opened one, those that ship, and learned ones of the current folder.

A world is its planner, the roads that OSRM's requests are answered over, and what the page shows of it. It is
loaded when it is first asked for, and again when its files are replaced; requests that have begun finish on
the former one.
"""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from chronoforest.data.episodes import load
from chronoforest.envs.maps import CELL_SIZE, cell_centre, is_wall
from chronoforest.envs.tasks import WORLDS
from chronoforest.errors import CannotWrite, ChronoForestError, InvalidParameter
from chronoforest.exports.network import Network
from chronoforest.names import DEFAULT_VARIANT, PRESETS, VARIANTS, full_name
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.planner import Planner
from chronoforest.presets.loading import load_planner
from chronoforest.presets.named import get_preset
from chronoforest.presets.roadmaps import kept_roadmap
from chronoforest.roadmap.roadmap import build_roadmap
from chronoforest.roadmap.states import tracks_of
from chronoforest.service.requests import MAX_AGENTS, MAX_ANCHORS, MAX_SEED
from chronoforest.service.router import Router
from chronoforest.types import FloatArray, PlanningModels

log = logging.getLogger(__name__)

SUMMARIES = {
    "verified": "proposed at once by the roadmap, then verified by the denoiser where there is one",
    "online": "the paper's method: trees grow, and the order is corrected while they do",
    "paper": "the paper's settings to the letter, slow",
    "roadmap-only": "ways over the roadmap, not verified",
}
"""One line for each variant."""

SHORT = {full: short for short, full in PRESETS.items()}


@dataclass(frozen=True, eq=False)
class World:
    """own_planner: None for a road network alone; own_router: None where no recordings are at hand; sources:
    files, and folders of models, that it was loaded from."""

    name: str
    own_planner: Planner | None
    own_router: Router | None = None
    sources: tuple[Path, ...] = ()

    def warmed(self) -> World:
        """The same, with everything at hand that the first page would wait for."""
        self.planner.prepared(DEFAULT_VARIANT)
        _ = self.description
        return self

    def stamps(self) -> Mapping[Path, tuple[int, int]]:
        """When its sources were written, and which files they are now."""
        files = [file for source in self.sources for file in (source, *source.glob("*.safetensors"))]
        found = {}
        for file in files:
            with suppress(OSError):
                found[file] = (file.stat().st_mtime_ns, file.stat().st_ino)
        return found

    @property
    def planner(self) -> Planner:
        """What plans in it."""
        if self.own_planner is None:
            raise InvalidParameter(f"{self.name} is a road network alone; plans and the page need a preset")
        return self.own_planner

    @property
    def router(self) -> Router:
        """What answers OSRM's requests."""
        if self.own_router is None:
            raise InvalidParameter(f"{self.name} has no recordings here to route over; plans can be made")
        return self.own_router

    @property
    def why_no_walk(self) -> str | None:
        """None where the environment is there and can be walked."""
        if self.name not in WORLDS:
            return "no environment is known for these recordings"
        if find_spec("ogbench") is None:
            return "OGBench is not installed, so there is no environment to walk in"
        return None

    @cached_property
    def description(self) -> dict[str, Any]:
        """Everything that the page has to know before it can ask for a plan."""
        models, frame = self.planner.models, self.planner.frame
        known = WORLDS.get(self.name)
        walls = cell_centre(np.argwhere(is_wall(known.maze_name))).tolist() if known else []
        lines = [] if self.own_router is None else _lines(self.own_router.network, models.support.cell)
        return {
            "preset": self.name,
            **about(self.name),
            "frame": frame.to_dict(),
            "extent": models.support.extent,
            "grid": density_grid(models),
            "ways": lines,
            "walls": {"size": CELL_SIZE, "centres": walls},
            "why_no_walk": self.why_no_walk,
            "variants": [{"name": name, "summary": SUMMARIES[name]} for name in VARIANTS],
            "default_variant": DEFAULT_VARIANT,
            "limits": {"agents": MAX_AGENTS, "anchors": MAX_ANCHORS, "seed": MAX_SEED},
            "example": self.example(),
        }

    def example(self, num_agents: int = 2, num_waypoints: int = 4) -> dict[str, Any]:
        """A first problem in the user's coordinates: places far apart between which there are ways."""
        models, frame = self.planner.models, self.planner.frame
        count = 2 * num_agents + num_waypoints
        roadmap = self.planner.prepared(DEFAULT_VARIANT).roadmap
        # Places that can all be reached from each other, in the open those with the most room around them.
        places = roadmap.position[roadmap.parts == np.bincount(roadmap.parts).argmax()]
        if roadmap.space.is_open:
            room = models.density.margin(places)
            places = places[room >= np.median(room)]
        places = places[np.random.default_rng(0).permutation(len(places))[:240]]
        apart = cdist(places, places)
        chosen = [int(apart.mean(axis=1).argmax())]
        while len(chosen) < count:
            chosen.append(int(apart[chosen].min(axis=0).argmax()))
        digits = max(1, int(np.ceil(-np.log10(models.support.cell))))
        stops = frame.to_user(places[chosen].round(digits)).round(frame.decimals).tolist()
        return {
            "starts": stops[:num_agents],
            "goals": stops[num_agents : 2 * num_agents],
            "waypoints": stops[2 * num_agents :],
        }


def about(name: str) -> dict[str, str]:
    """What the page calls a world, and what that is."""
    if name not in SHORT:
        return {"title": name, "about": "learned from recordings of your own"}
    body, _, maze = SHORT[name].partition("-")
    who = "an ant with four legs" if body == "ant" else "a point mass"
    return {"title": SHORT[name], "about": f"{who} in OGBench's {maze} maze"}


def load_world(choice: PlannerChoice) -> World:
    """A world by its preset, or from a road network's file."""
    if choice.preset.endswith(".npz"):
        roads = Path(choice.preset)
        return World(roads.stem, None, Router.load(roads).warmed(), (roads,))
    preset = get_preset(choice.preset)
    planner = load_planner(choice.preset, device=choice.device, weights=choice.weights)
    has_roads = (preset.weights / "states.safetensors").is_file() or preset.recordings.is_file()
    router = kept_router(choice.preset).warmed() if has_roads else None
    sources = (preset.recordings, choice.weights or preset.weights)
    return World(preset.name, planner, router, sources).warmed()


def kept_router(preset: str) -> Router:
    """The router of a road network's file, or of a preset: its file beside the recordings, written again when
    what was learned from these is newer. Where it cannot be written it is made each time."""
    if preset.endswith(".npz"):
        return Router.load(Path(preset))
    chosen = get_preset(preset)
    recordings, path = chosen.recordings, chosen.recordings.with_suffix(".roads.npz")
    sources = [recordings, chosen.weights / "states.safetensors"]
    times = [source.stat().st_mtime for source in sources if source.is_file()]
    if path.is_file() and path.stat().st_mtime >= max(times, default=0.0):
        return Router.load(path)
    states = kept_roadmap(chosen.weights, chosen.name) or build_roadmap(tracks_of(load(recordings)))
    router = Router(Network.of(states, chosen.frame))
    try:
        router.save(path)
    except CannotWrite as error:
        log.warning("%s; it is made again when the service starts again", error)
    return router


class Worlds:
    """Worlds by name, the opened one first."""

    def __init__(self, opened: PlannerChoice, load: Callable[[PlannerChoice], World] = load_world) -> None:
        """The opened one is loaded at once, so that whatever is wrong with it is said before anything is
        served."""
        self._load = load
        self._loaded: dict[str, World] = {}
        self._loading = threading.Lock()
        self.opened = full_name(opened.preset)
        if opened.preset.endswith((".toml", ".npz")):
            self.opened = Path(opened.preset).stem
        own = [path.stem for path in sorted(Path().glob("*.toml")) if _is_learned(path.stem)]
        names = [*PRESETS.values(), *own]
        others = () if opened.preset.endswith(".npz") else (name for name in names if name != self.opened)
        self._choices = {self.opened: opened} | {
            name: PlannerChoice(name, device=opened.device) for name in others
        }
        self._stamps = self.world().stamps()

    def world(self, name: str | None = None) -> World:
        """A world, the opened one unless named; takes a while when it is not loaded yet."""
        name = self.opened if name is None else full_name(name)
        if name not in self._choices:
            raise InvalidParameter(f"worlds here are {', '.join(self._choices)}, not {name!r:.80}")
        if name not in self._loaded:  # requests in loaded worlds do not wait for one that is being loaded
            with self._loading:
                if name not in self._loaded:
                    self._loaded[name] = self._load(self._choices[name])
        return self._loaded[name]

    def router(self, profile: str) -> Router:
        """Of the world of that name, of the opened one where there is none."""
        return self.world(profile if profile in self._choices else None).router

    def described(self) -> dict[str, Any]:
        """The names, what they are, and which was opened."""
        worlds = [{"name": name, **about(name)} for name in self._choices]
        return {"opened": self.opened, "worlds": worlds}

    def refresh(self) -> bool:
        """Take the opened world anew where its files were replaced; whether it was. Files that cannot be read
        change nothing."""
        former = self._loaded[self.opened]
        stamps = former.stamps()
        if stamps == self._stamps:
            return False
        self._stamps = stamps
        try:
            self._loaded[self.opened] = self._load(self._choices[self.opened])
        except (ChronoForestError, OSError) as error:
            log.warning("the former world stays: %s", error)
        return self._loaded[self.opened] is not former


def _is_learned(name: str) -> bool:
    """Whether a preset of the current folder has what plans need."""
    return (Path("runs") / name / "density.safetensors").is_file()


def density_grid(models: PlanningModels, longest: int = 640) -> dict[str, Any]:
    """Log-density as bytes: 0 without support, 1…255 from the thinnest to the densest place.

    `values` is base64 of ny rows of nx bytes, `longest` at most, from the top of the picture to its bottom;
    `extent` is the picture's, which may end beyond the support's by a part of a cell of the picture.
    """
    support = models.support
    places = support.origin + support.cell * np.indices(support.mask.shape).transpose(1, 2, 0)
    heights = np.where(support.mask, models.density.log_density(places), -np.inf)
    block = -(-max(support.mask.shape) // longest)
    # The largest value of every block × block cells: a lane of one cell must not vanish.
    heights = np.pad(heights, [(0, -side % block) for side in heights.shape], constant_values=-np.inf)
    rows, columns = (side // block for side in heights.shape)
    heights = heights.reshape(rows, block, columns, block).max(axis=(1, 3))
    mask = np.isfinite(heights)
    low, high = np.quantile(heights[mask], [0.02, 0.995]) if mask.any() else (0.0, 1.0)
    shade = 1 + 254 * np.clip((np.maximum(heights, low) - low) / max(high - low, 1e-9), 0.0, 1.0)
    picture = np.where(mask, shade, 0).astype(np.uint8).T[::-1]
    values = base64.b64encode(np.ascontiguousarray(picture).tobytes()).decode()
    ny, nx = picture.shape
    left, _, bottom, _ = support.extent
    side = block * support.cell
    extent = [left, left + nx * side, bottom, bottom + ny * side]
    return {"nx": nx, "ny": ny, "extent": extent, "values": values}


def _lines(network: Network, cell: float, most: int = 200_000) -> list[list[float]]:
    """x, y, x, y of every recorded hop, each street once where its directions lie on each other; none where
    there are more than a page can draw."""
    digits = max(0, int(np.ceil(-np.log10(cell))))
    hops = np.flatnonzero(network.is_recorded & (network.num_hops <= most))
    one, other = (np.round(network.position[side[hops]], digits) for side in (network.source, network.target))
    is_first = (one[:, 0] < other[:, 0]) | ((one[:, 0] == other[:, 0]) & (one[:, 1] < other[:, 1]))
    first, last = (np.where(is_first[:, None], *ends) for ends in ((one, other), (other, one)))
    lines = np.concatenate([first, last], axis=1)
    return np.unique(lines, axis=0).tolist()


def flat(points: FloatArray, decimals: int) -> list[float]:
    """[T, 2] → x, y, x, y, …, rounded."""
    return np.round(points, decimals).ravel().tolist()
