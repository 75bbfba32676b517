"""Table 2 and Table 7: how long routes through misjudged waypoints are when their order is solved again.

An online plan also keeps the candidate bridges that its search scored (eq. 8–10), each with what the map says
is left between its two states; the paper's g* = c* − D(n) − D(m) is at most that."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np

from benchmarks.case import Case
from benchmarks.experiments.calibration import local_scale
from benchmarks.instances import InstanceSet, find, stored_sets
from benchmarks.mazes import Maze, segments_hit_boxes
from benchmarks.metrics import Estimate, is_sound
from benchmarks.problems import open_cells
from benchmarks.references import geodesic_matrix
from benchmarks.report.tables import Entry, Row, Sheet, by, ratio
from benchmarks.suite import Exhibit, Request, Suite
from benchmarks.trials import PlanFigures, Trial, measure_plan, plan_problem
from chronoforest.envs.maps import CELL_SIZE, cell_centre
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.result import PlanResult
from chronoforest.presets.loading import PresetPlanner
from chronoforest.routing.budget import linkable_pairs
from chronoforest.search.scoring import bridge_cost
from chronoforest.search.tree import Forest, ForestMemory
from chronoforest.types import (
    Calibration,
    Certificate,
    FloatArray,
    IntArray,
    Plan,
    PlanningModels,
)


class Growth(ForestMemory):
    """Watches a search through its memory: the forest, and the nodes of every tree after every round."""

    def __init__(self) -> None:
        super().__init__()
        self.forest: Forest | None = None
        self.sizes: list[list[int]] = []

    def recall(self, forest: Forest, grower: Hashable) -> Forest:
        """The forest as it is, which is the one that the search grows."""
        self.forest = super().recall(forest, grower)
        self.on_round()
        return self.forest

    def on_round(self, *_: object) -> None:
        """To be called after every round; takes no time, because plans are timed."""
        if self.forest is not None:
            self.sizes.append([tree.num_nodes for tree in self.forest.trees])


@dataclass(frozen=True)
class Probes:
    """Candidates of one pair of trees in one round: depth [n] of n, gap ĝ [n] in steps, states [n, 2] of
    n and m."""

    depth: IntArray
    gap: FloatArray
    source: FloatArray
    target: FloatArray


@dataclass(frozen=True)
class ProbeFigures:
    """Candidates of a plan. alpha: the α in use; scale: units of a step; rows: depth, ĝ in steps and true
    residual in units, infinite where an end lies in a wall."""

    alpha: float
    scale: float
    rows: list[tuple[int, float, float]]


@dataclass(frozen=True)
class EffortFigures:
    """What a search paid for: pairs searched on its rounds' routes and off them (eq. 36), pairs searched at
    least once of all that a route could link (eq. 31c), and Σ W of the plan's legs in steps (eq. 40)."""

    num_on: int
    num_off: int
    num_searched: int
    num_pairs: int
    width: float

    @classmethod
    def of(cls, result: PlanResult) -> EffortFigures:
        """In worlds where a pair and the pair back are one."""
        routes = [{frozenset((p.source, p.target)) for p in one.route.legs} for one in result.rounds]
        pairs = [[frozenset((p.source, p.target)) for p in one.pairs] for one in result.rounds]
        is_on = [pair in route for route, some in zip(routes, pairs, strict=True) for pair in some]
        widths = (leg.width for route in result.routes for leg in route.legs if leg.width is not None)
        searched, known = {pair for some in pairs for pair in some}, linkable_pairs(result.problem, True)
        return cls(sum(is_on), len(is_on) - sum(is_on), len(searched), len(known), sum(widths))


@dataclass(frozen=True)
class InstanceFigures:
    """A plan's certificate, its legs that were accepted, those of them that cross a wall of the map, the
    candidates of an online plan, and what its search paid for."""

    certificate: Certificate
    num_accepted: int
    num_false: int
    probes: ProbeFigures | None = None
    effort: EffortFigures | None = None


def measure_probes(growth: Growth, models: PlanningModels, maze: Maze) -> ProbeFigures | None:
    """The candidates of a watched search; None where no forest was grown."""
    if growth.forest is None:
        return None
    found = list(_probes(growth, growth.forest, models.calibration))
    depth, gap = (np.concatenate([getattr(one, name) for one in found]) for name in ("depth", "gap"))
    source, target = (np.concatenate([getattr(one, name) for one in found]) for name in ("source", "target"))
    left = residuals(maze, source, target)
    rows = zip(depth.tolist(), np.round(gap, 1).tolist(), np.round(left, 2).tolist(), strict=True)
    points = cell_centre(open_cells(maze))
    codes, above = models.distance.encode(points), np.triu_indices(len(points), k=1)
    steps = models.distance.pairwise(codes, codes)[above]
    scale = local_scale(steps, geodesic_matrix(maze, points)[above])
    return ProbeFigures(models.calibration.alpha, scale, list(rows))


def residuals(maze: Maze, source: FloatArray, target: FloatArray) -> FloatArray:
    """[n, 2] × [n, 2] → [n] units from one state to the other, infinite where one lies in a wall: straight
    where no wall is in between, else the geodesic with clearance 1.0."""
    is_free = maze.is_free(source) & maze.is_free(target)
    states, place = np.unique(np.concatenate([source[is_free], target[is_free]]), axis=0, return_inverse=True)
    first, second = place.reshape(2, -1)
    lengths = np.full(len(source), np.inf)
    hits = segments_hit_boxes(source, target, maze.wall_centres, CELL_SIZE / 2).any(axis=1)
    straight = np.where(hits, np.inf, np.linalg.norm(source - target, axis=1))
    lengths[is_free] = np.minimum(geodesic_matrix(maze, states)[first, second], straight[is_free])
    return lengths


def _probes(growth: Growth, forest: Forest, calibration: Calibration) -> Iterator[Probes]:
    trees = forest.trees
    number = {id(tree): k for k, tree in enumerate(trees)}
    for before, after in pairwise([[0] * len(trees), *growth.sizes]):
        for k, tree in enumerate(trees):
            new = np.arange(before[k], after[k])
            for _, partner in forest.partners(tree) if len(new) else ():
                known = after[number[id(partner)]]  # the nodes that it had at the end of the round
                candidates = bridge_cost(tree, tree.cost[new], tree.codes[new], partner, calibration)
                best = candidates.cost[:, :known].argmin(axis=1)
                gap = np.take_along_axis(candidates.gap, best[:, None], axis=1)[:, 0]
                yield Probes(depths(tree.parent)[new], gap, tree.state[new], partner.state[best])


def depths(parent: IntArray) -> IntArray:
    """[n] segments between every node and its root; parents [n] come before their children."""
    depth = np.zeros(len(parent), dtype=np.int64)
    for node in range(1, len(parent)):
        depth[node] = depth[parent[node]] + 1
    return depth


COMPARED = ("online", "temporal-fixed", "graph-fixed")
PAPER_COMPARED = ("paper", "paper-temporal-fixed", "paper-graph-fixed")
REPEATS = 3


def cases(request: Request) -> list[Case]:
    """Every variant on every instance, `paper` once and with the paper's distance; `episodes` keeps the first
    groups of every task or pair."""
    own = [c for chosen in stored_sets().values() for c in instance_cases(chosen, COMPARED, request, (1, 2))]
    papers = (chosen for chosen in stored_sets().values() if chosen.distance == "paper")
    once = replace(request, repeats=request.repeats or 1)
    return [*own, *(c for chosen in papers for c in instance_cases(chosen, PAPER_COMPARED, once, (1, 2)))]


def instance_cases(
    chosen: InstanceSet, variants: Sequence[str], request: Request, agents: Sequence[int]
) -> list[Case]:
    """The cases of some variants, which take turns; every repeat has a seed of its own."""
    teams = [list(group) for _, group in groupby(chosen.instances, key=lambda one: one.tasks)]
    return [
        Case(
            "hamiltonian",
            PlannerChoice(chosen.preset, distance=chosen.distance),
            one.tasks[0],
            repeat * len(team) + number,
            chosen.seed,
            variant,
            num_agents=len(one.tasks),
            num_waypoints=len(one.waypoints),
            instance=one.name,
        )
        for repeat in range(request.repeats or REPEATS)
        for team in teams
        if len(team[0].tasks) in agents
        for number, one in enumerate(team[: request.episodes or len(team)])
        for variant in variants
    ]


def run_instance(case: Case, planner: PresetPlanner) -> Trial:
    """Plan a stored problem and measure it against the map; nothing is walked."""
    problem = find(case.preset, case.choice.distance, case.instance).problem(case.maze)
    growth = Growth()
    result = plan_problem(case, planner, problem, memory=growth, on_round=growth.on_round)
    is_online = case.variant == "online"
    probes = measure_probes(growth, planner.models, case.maze) if is_online else None
    legs = [(leg.is_met, leg_path(route, k)) for route in result.routes for k, leg in enumerate(route.legs)]
    walls = [case.maze.crosses_wall(path) for is_met, path in legs if is_met and len(path) > 1]
    effort = EffortFigures.of(result) if is_online else None
    figures = InstanceFigures(result.certificate, len(walls), sum(walls), probes, effort)
    return Trial(case, measure_plan(result, case.maze), figures=figures)


def leg_path(route: Plan, number: int) -> FloatArray:
    """The part of a route's path that is one leg; empty when the path ends before."""
    rows = route.stops[number : number + 2]
    return route.path[rows[0] : rows[1] + 1] if len(rows) == 2 else route.path[:0]


SAVED = "saved against temporal-fixed, %"
RATIOS = (
    "online ÷ graph-fixed",
    SAVED,
    "online ÷ geodesic optimum",
    "its order ÷ best order",
    "pairs improved",
    "sound plans",
)

PUBLISHED: dict[int, dict[str, tuple[str, ...]]] = {
    1: {
        "high": ("174.0", "193.7", "172.8"),
        "medium": ("167.6", "175.6", "164.9"),
        "low": ("175.0", "176.2", "172.9"),
        "total": ("172.2", "181.8", "170.2"),
    },
    2: {
        "high": ("216.0", "236.6", "212.5"),
        "medium": ("213.3", "226.0", "206.4"),
        "low": ("219.6", "225.4", "211.5"),
        "total": ("216.3", "229.3", "210.1"),
    },
}
"""Table 2: units by number of agents, bin and variant."""

PUBLISHED_PAIRS: dict[str, tuple[str, ...]] = {
    "1-2": ("226.3", "229.2", "218.4", "1.3"),
    "1-3": ("234.9", "253.2", "233.4", "7.2"),
    "1-4": ("237.5", "256.5", "232.6", "7.4"),
    "1-5": ("204.3", "216.2", "198.4", "5.5"),
    "2-3": ("230.9", "246.7", "221.4", "6.4"),
    "2-4": ("224.5", "236.7", "219.4", "5.2"),
    "2-5": ("189.8", "197.0", "181.8", "3.7"),
    "3-4": ("228.9", "239.1", "225.1", "4.3"),
    "3-5": ("201.2", "218.3", "193.6", "7.8"),
    "4-5": ("184.6", "200.4", "177.0", "7.9"),
    "total": ("216.3", "229.3", "210.1", "5.7"),
}
"""Table 7: units of the three variants, and per cent saved against temporal-fixed."""

PUBLISHED_RATIOS = {1: ("1.012", "5.3"), 2: ("1.030", "5.7")}
"""Online ÷ graph-fixed and per cent saved, by number of agents, from the totals of Table 2."""


@dataclass(frozen=True)
class Group:
    """One instance under all variants: means over the repeats in which every variant found a sound plan."""

    agents: int
    team: str
    margin: str
    lengths: tuple[float, ...]
    geodesic: float
    order_lengths: tuple[float, ...]


def matched_groups(trials: Sequence[Trial], variants: Sequence[str] = COMPARED) -> list[Group]:
    """The instances that all variants solved, each counted once however often it was repeated."""
    found: dict[str, dict[int, dict[str, PlanFigures]]] = {}
    sizes: dict[str, int] = {}
    for trial in trials:
        case = trial.case
        if trial.plan is not None and is_sound(trial.plan):
            sizes[case.instance] = case.num_agents
            repeats = found.setdefault(case.instance, {})
            repeats.setdefault(case.episode, {})[case.variant] = trial.plan
    groups = (_group(name, sizes[name], list(found[name].values()), variants) for name in found)
    return [group for group in groups if group is not None]


def _group(
    name: str, agents: int, repeats: Sequence[dict[str, PlanFigures]], variants: Sequence[str]
) -> Group | None:
    whole = [[plans[variant] for variant in variants] for plans in repeats if {*variants} <= {*plans}]
    if not whole:
        return None
    *team, margin, _ = name.split("-")
    lengths = np.mean([[plan.length for plan in plans] for plans in whole], axis=0)
    orders = np.mean([[plan.order_length for plan in plans] for plans in whole], axis=0)
    return Group(agents, "-".join(team), margin, tuple(lengths), whole[0][0].geodesic, tuple(orders))


def length_tables(trials: Sequence[Trial]) -> list[Exhibit]:
    """Per distance: lengths by bin, by pair, and the ratios that the comparison is about; and of the variant
    `paper`."""
    own = [trial for trial in trials if trial.case.variant in COMPARED]
    others = [trial for trial in trials if trial.case.variant in PAPER_COMPARED]
    groups = by(own, lambda trial: trial.case.choice.distance)
    sheets = [sheet for distance, some in groups.items() for sheet in _sheets(distance, some)]
    return [*sheets, *([_paper_sheet(others)] if others else [])]


def _paper_sheet(trials: Sequence[Trial]) -> Sheet:
    """A row for one agent and one for two; either fixed order is compared on what it and `paper` solved."""
    rows, (own, temporal, graph) = [], PAPER_COMPARED
    for agents, some in sorted(by(trials, lambda trial: trial.case.num_agents).items()):
        fixed, privileged = (matched_groups(some, (own, other)) for other in (temporal, graph))
        published, (ratio_of, saved) = PUBLISHED[agents]["total"], PUBLISHED_RATIOS[agents]
        lengths = [[group.lengths[k] for group in privileged] for k in (0, 1)]
        entries = {
            own: Entry.of_mean((group.lengths[0] for group in fixed), published[0]),
            temporal: Entry.of_mean((group.lengths[1] for group in fixed), published[1]),
            SAVED: _saved(fixed, saved),
            f"{own} ÷ graph-fixed": Entry.of_ratio(lengths[0], lengths[1], ratio_of),
            RATIOS[5]: Entry.of_share(trial.plan is not None and is_sound(trial.plan) for trial in some),
        }
        rows.append(Row(f"M = {agents}", entries))
    notes = (
        "Ways of `paper` are not shortened; the lengths that the paper gives are of post-processed ones.",
    )
    title = "Route length, the variant paper, the paper's distance"
    return Sheet("hamiltonian-variant", title, "Table 2, Table 7", tuple(rows[0].entries), tuple(rows), notes)


def _sheets(distance: str, trials: Sequence[Trial]) -> Iterator[Sheet]:
    groups, is_good = matched_groups(trials), (t.plan is not None and is_sound(t.plan) for t in trials)
    whose = "our distance" if distance == "own" else f"the {distance}'s distance"
    notes = (
        f"Instances and plans with {whose}; only those that every variant solved, repeats averaged first.",
        "Graph-fixed is privileged: its order is solved on the maze's grid.",
    )
    for agents in (1, 2):
        own = [group for group in groups if group.agents == agents]
        title = f"Route length, M = {agents}, {whose}"
        rows = tuple(
            Row(margin, _length_entries([g for g in own if margin in (g.margin, "total")], published))
            for margin, published in PUBLISHED[agents].items()
        )
        yield Sheet(f"hamiltonian-{distance}-{agents}", title, "Table 2", COMPARED, rows, notes)
    pairs = []
    for team, published in PUBLISHED_PAIRS.items():
        some = [group for group in groups if group.agents == 2 and team in (group.team, "total")]
        pairs.append(Row(team, {**_length_entries(some, published), SAVED: _saved(some, published[3])}))
    columns, title = (*COMPARED, SAVED), f"Task pairs, {whose}"
    yield Sheet(f"hamiltonian-{distance}-pairs", title, "Table 7", columns, tuple(pairs), notes)
    complete = Row("all trials", {RATIOS[5]: Entry.of_share(is_good)})
    ratios = (*(_ratio_row(groups, agents) for agents in (1, 2)), complete)
    yield Sheet(
        f"hamiltonian-{distance}-ratios",
        f"Online against the fixed orders, {whose}",
        "Table 2, Table 7",
        RATIOS,
        ratios,
        (*notes, "The geodesic optimum is that of the best order, any angle, clearance 1.0."),
    )


def _length_entries(groups: Sequence[Group], published: Sequence[str]) -> dict[str, Entry]:
    return {
        variant: Entry.of_mean((group.lengths[k] for group in groups), published[k])
        for k, variant in enumerate(COMPARED)
    }


def _saved(groups: Sequence[Group], published: str = "") -> Entry:
    """Per cent by which online is shorter than temporal-fixed."""
    if not groups:
        return Entry(None, 0, published)
    found = ratio([group.lengths[0] for group in groups], [group.lengths[1] for group in groups])
    saved = Estimate(100 * (1 - found.value), 100 * (1 - found.high), 100 * (1 - found.low))
    return Entry(saved, len(groups), published)


def _ratio_row(groups: Sequence[Group], agents: int) -> Row:
    own = [group for group in groups if group.agents == agents]
    online, _, graph = ([group.lengths[k] for group in own] for k in range(3))
    printed, saved = PUBLISHED_RATIOS[agents]
    entries = {
        RATIOS[0]: Entry.of_ratio(online, graph, printed),
        RATIOS[1]: _saved(own, saved),
        RATIOS[2]: Entry.of_mean((g.lengths[0] / g.geodesic for g in own), digits=3),
        RATIOS[3]: Entry.of_mean((g.order_lengths[0] / g.geodesic for g in own), digits=3),
    }
    if agents == 2:  # the pairs on which online is shorter than temporal-fixed, in the mean
        teams = by(own, lambda group: group.team)
        is_better = [sum(g.lengths[0] - g.lengths[1] for g in some) < 0 for some in teams.values()]
        entries[RATIOS[4]] = Entry.of_share(is_better, "10 of 10")
    return Row(f"M = {agents}", entries)


SUITE = Suite(
    "hamiltonian",
    "routes through misjudged waypoints",
    cases,
    run_instance,
    length_tables,
    figures=(InstanceFigures,),
)
