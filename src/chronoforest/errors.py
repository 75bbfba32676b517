"""Everything ChronoForest refuses to do, each with a sentence that says what would work."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class ChronoForestError(Exception):
    """Root of the family: a message meant for the user, no traceback needed."""


class InvalidProblem(ChronoForestError):
    """The anchors cannot be planned for: wrong shape, NaN, duplicates or outside the data's support."""


class InvalidParameter(ChronoForestError):
    """A parameter has a value outside its range; the message carries the value received."""


class UnknownName(ChronoForestError):
    """Nothing of that kind has that name; the message lists those there are."""

    kind = "name"

    def __init__(self, name: str, choices: Iterable[str], also: Iterable[str] = ()) -> None:
        """also: other names that would do, too many to list."""
        choices = list(choices)
        meant = did_you_mean(name, [*choices, *also])
        super().__init__(f"unknown {self.kind} {name!r}; {meant}available: {', '.join(choices)}")


class UnknownCommand(UnknownName):
    """No command of those words."""

    kind = "command"


class UnknownPreset(UnknownName):
    """No preset of that name."""

    kind = "preset"

    def __str__(self) -> str:
        """Also where one of the user's own would be looked for."""
        return f"{super().__str__()}, or one of your own: NAME.toml in this folder, or a path to it"


class UnknownPlanner(ChronoForestError):
    """Neither ChronoForest's planner, nor a peer, nor a module with a peer has that name."""

    def __init__(self, name: str, choices: Iterable[str], reason: str = "") -> None:
        why, choices = f" ({reason})" if reason else "", list(choices)
        meant = "" if name in choices else did_you_mean(name, choices)
        super().__init__(
            f"unknown planner {name!r}{why}; {meant}available: {', '.join(choices)}, or a module with a PEER"
        )


class UnknownVariant(UnknownName):
    """No planner variant of that name."""

    kind = "variant"


class UnknownTracker(UnknownName):
    """No tracker of that name."""

    kind = "tracker"


class UnknownEnvironment(UnknownName):
    """No maze, environment or dataset of that name."""

    kind = "environment"


class BadDataset(ChronoForestError):
    """A dataset file is truncated, foreign, wrongly shaped or holds NaN."""


class BadCheckpoint(ChronoForestError):
    """A checkpoint is missing, corrupt or belongs to another preset."""


class BadResult(ChronoForestError):
    """A saved plan or record cannot be read."""


class BadPresetFile(ChronoForestError):
    """A preset's TOML file is missing, not TOML, or sets what no preset has."""


class MissingExtra(ChronoForestError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"this needs {library}; install it with `pip install 'chronoforest[{extra}]'`")


class FetchFailed(ChronoForestError):
    """An official dataset could not be downloaded."""


class CannotListen(ChronoForestError):
    """The service's port is taken or not allowed."""


class Busy(ChronoForestError):
    """Too many plans wait for the service's planner."""


class CannotWrite(ChronoForestError):
    """A file could not be written: a full disk, a missing permission or a path that is taken."""


class InUse(ChronoForestError):
    """Another process writes to a folder or a file of records."""

    def __init__(self, target: Path, holder: str) -> None:
        super().__init__(f"{target} is in use by {holder}; wait until it ends, or choose another folder")


class NoCluster(ChronoForestError):
    """There is no Ray cluster at an address, or it has no room for a worker."""


class WorkerDied(ChronoForestError):
    """A process that shares the work ended before its work was done."""


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """A question about the choice that is spelled nearly like a name; nothing where none is."""
    from difflib import get_close_matches

    close = get_close_matches(str(name), list(choices), n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def require_at_least(params: object, least: float, *names: str) -> None:
    """Refuse fields below `least`; those that are None are not told."""
    for name in names:
        value = getattr(params, name)
        if value is not None and not value >= least:
            raise InvalidParameter(f"{name} must be at least {least}, got {value}")


def require_positive(params: object, *names: str) -> None:
    """Refuse fields that are not above 0."""
    for name in names:
        value = getattr(params, name)
        if not value > 0:
            raise InvalidParameter(f"{name} must be above 0, got {value}")


def require_one_of(params: object, choices: tuple[str, ...], name: str) -> None:
    """Refuse a field that is none of the choices."""
    if getattr(params, name) not in choices:
        raise InvalidParameter(
            f"{name} must be {' or '.join(map(repr, choices))}, got {getattr(params, name)!r}"
        )


def require_within(params: object, low: float, high: float, *names: str) -> None:
    """Refuse fields outside [low, high]."""
    for name in names:
        value = getattr(params, name)
        if not low <= value <= high:
            raise InvalidParameter(f"{name} must lie in [{low}, {high}], got {value}")
