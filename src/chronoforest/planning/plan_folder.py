"""A folder of plans: what was planned is not planned again, and what could not be is told with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chronoforest.errors import ChronoForestError
from chronoforest.files import append_line
from chronoforest.planning.problem_files import NamedProblem
from chronoforest.planning.shortfalls import missing

if TYPE_CHECKING:
    from chronoforest.planning.result import PlanResult

PLANS, FAILURES = "plans.jsonl", "failures.jsonl"


@dataclass(frozen=True)
class Entry:
    """A plan of the folder; asked: the problem, its seed, how it was planned; unmet: legs without a way;
    left_out: waypoints that nobody visits; shortfalls: a sentence about each of these."""

    name: str
    asked: Mapping[str, Any]
    complete: bool
    unmet: Sequence[Sequence[str]]
    length: float
    seconds: float
    left_out: Sequence[str] = ()
    shortfalls: Sequence[str] = ()

    @property
    def reason(self) -> str:
        """Why it is not complete."""
        return ". ".join([f"incomplete, {missing(self.unmet, self.left_out)}", *self.shortfalls])


class PlanFolder:
    """Plans as NAME.json, a line about each in `plans.jsonl`, and in `failures.jsonl` a line with the reason
    for each problem that has no complete plan.

    how: what else a plan depends on; another one in the same folder is planned again and replaced.
    """

    def __init__(self, folder: Path, seed: int, how: Mapping[str, Any]) -> None:
        self.folder, self.seed, self.how = folder, seed, how
        self.num_complete = self.num_incomplete = self.num_failed = 0

    def open(self, problems: Iterable[NamedProblem]) -> list[NamedProblem]:
        """Those of the problems that are not planned yet; failures of earlier commands are forgotten."""
        (self.folder / FAILURES).unlink(missing_ok=True)
        known, left = self._known(), []
        for one in problems:
            entry = known.get(one.name)
            if entry is None or entry.asked != self._asked(one) or not self.path(one).is_file():
                left.append(one)
            else:
                self._count(entry)
        return left

    def path(self, one: NamedProblem) -> Path:
        """Where the plan of a problem is."""
        return self.folder / f"{one.name}.json"

    def keep(self, one: NamedProblem, outcome: PlanResult | ChronoForestError) -> None:
        """Write a plan, or why there is none."""
        if isinstance(outcome, ChronoForestError):
            self.num_failed += 1
            self._fail(one.name, str(outcome))
            return
        outcome.save(self.path(one))
        entry = Entry(
            name=one.name,
            asked=self._asked(one),
            complete=outcome.complete,
            unmet=[list(pair) for pair in outcome.unmet],
            length=outcome.length,
            seconds=round(outcome.seconds, 3),
            left_out=outcome.left_out,
            shortfalls=outcome.shortfalls,
        )
        append_line(self.folder / PLANS, json.dumps(asdict(entry), allow_nan=False))
        self._count(entry)

    def summary(self) -> str:
        """How many plans there are."""
        parts = [f"{self.num_complete} complete"]
        parts += [f"{self.num_incomplete} incomplete"] if self.num_incomplete else []
        parts += [f"{self.num_failed} without a plan"] if self.num_failed else []
        return ", ".join(parts)

    @property
    def all_complete(self) -> bool:
        """Whether every problem has a complete plan."""
        return not self.num_incomplete and not self.num_failed

    def _count(self, entry: Entry) -> None:
        if entry.complete:
            self.num_complete += 1
            return
        self.num_incomplete += 1
        self._fail(entry.name, entry.reason)

    def _fail(self, name: str, reason: str) -> None:
        append_line(self.folder / FAILURES, json.dumps({"name": name, "reason": reason}, ensure_ascii=False))

    def _asked(self, one: NamedProblem) -> dict[str, Any]:
        anchors = {key: getattr(one.problem, key).tolist() for key in ("starts", "goals", "waypoints")}
        return {**anchors, "seed": one.seed_or(self.seed), **self.how}

    def _known(self) -> dict[str, Entry]:
        """The last line about each plan; a line that a kill tore tells nothing."""
        path = self.folder / PLANS
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        entries = [entry for entry in map(_entry, lines) if entry is not None]
        return {entry.name: entry for entry in entries}


def _entry(line: str) -> Entry | None:
    try:
        return Entry(**json.loads(line))
    except (ValueError, TypeError):
        return None
