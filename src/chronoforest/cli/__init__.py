"""The command line: finds the verb, lets tyro read its arguments from the function's signature, runs it.

A verb's module is imported only when the verb is used, and imports torch, SciPy or MuJoCo only after its
arguments are checked, so that neither `--help` nor a mistake waits for them.
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import takewhile
from typing import Any, NamedTuple, cast

from chronoforest.errors import ChronoForestError, UnknownCommand
from chronoforest.processes import handled, interrupt

FAILED, INTERRUPTED = 2, 130


class Verb(NamedTuple):
    """A command: where its function is (`module:function`) and one line about it."""

    target: str
    summary: str

    def load(self) -> Callable[..., Any]:
        """Import the function; its arguments are the command's, its return value the exit code or None."""
        module, _, function = self.target.partition(":")
        return cast("Callable[..., Any]", getattr(importlib.import_module(module), function))


VERBS: dict[str, Verb] = {
    "data fetch": Verb("chronoforest.cli.data:fetch", "download an official dataset"),
    "data import": Verb("chronoforest.cli.data:import_recordings", "turn recordings into a dataset"),
    "data inspect": Verb("chronoforest.cli.data:inspect", "describe a dataset and draw its coverage"),
    "learn": Verb("chronoforest.cli.learn:learn", "make a planner from recordings of your own, in seconds"),
    "preset list": Verb("chronoforest.cli.preset:list_presets", "list the worlds that can be planned in"),
    "preset new": Verb("chronoforest.cli.preset:new", "propose a preset for recordings of your own"),
    "train all": Verb("chronoforest.cli.train:everything", "learn all models of a preset"),
    "train density": Verb("chronoforest.cli.train:density", "tabulate where the recordings went"),
    "train distance": Verb("chronoforest.cli.train:distance", "learn the temporal distance"),
    "train denoiser": Verb("chronoforest.cli.train:denoiser", "learn to generate segments"),
    "train student": Verb("chronoforest.cli.train:student", "distil the denoiser to few steps"),
    "train tracker": Verb("chronoforest.cli.train:tracker", "learn to follow a path"),
    "plan": Verb("chronoforest.cli.plan:plan", "plan routes for any starts, goals and waypoints"),
    "verify": Verb("chronoforest.cli.verify:verify", "check a path from a file against recorded motion"),
    "run": Verb("chronoforest.cli.run:run", "plan an official task, walk it and draw it"),
    "view": Verb("chronoforest.cli.serve:view", "draw problems and watch their plans in the browser"),
    "export": Verb("chronoforest.cli.learn:export", "write what was learned for OSRM, Nav2, LIF and QGIS"),
    "serve": Verb("chronoforest.cli.serve:serve", "answer OSRM's and VROOM's requests, and serve a page"),
    "demo": Verb("chronoforest.cli.run:demo", "plan and walk two ants through the giant maze"),
}
"""Every command by the words that call it."""

FIRST = ("demo", "plan", "view", "learn", "serve")
"""The commands that people need first."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command of `chronoforest`."""
    return run_verbs("chronoforest", VERBS, argv, FIRST)


def run_verbs(
    program: str, verbs: Mapping[str, Verb], argv: Sequence[str] | None = None, first: Sequence[str] = ()
) -> int:
    """Run one command of a program, or list those that people need `first`; returns the exit code: the
    command's own, 2 after an error that was explained, 130 when it was stopped by ctrl-C or SIGTERM."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with handled(interrupt, signal.SIGTERM), _plain_warnings():
            return _dispatch(program, verbs, arguments, first)
    except ChronoForestError as error:
        print(f"chronoforest: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("chronoforest: interrupted; what was saved so far is kept", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (`| head`) has seen enough; Python would complain again when flushing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Warnings as a sentence; where in the library they were raised is nothing to the user of a command."""
    former = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"chronoforest: {message}\n"
    try:
        yield
    finally:
        warnings.formatwarning = former


def _dispatch(program: str, verbs: Mapping[str, Verb], arguments: list[str], first: Sequence[str]) -> int:
    if arguments == ["--version"]:
        print(f"chronoforest {version('chronoforest')}")
        return 0
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    for num_words in (2, 1):
        name = " ".join(arguments[:num_words])
        if name in verbs:
            import tyro

            function, values = verbs[name].load(), _joined(arguments[num_words:])
            return int(tyro.cli(function, prog=f"{program} {name}", args=values) or 0)
    listed = {name: verbs[name] for name in first or verbs} if not arguments else _below(verbs, arguments)
    width = max(map(len, listed))
    lines = (f"  {name:<{width}}  {verb.summary}" for name, verb in listed.items())
    print(f"usage: {program} COMMAND …\n", *lines, sep="\n")
    print(f"\n`{program} COMMAND --help` lists what a command takes.")
    if not arguments and first:
        print(f"`{program} --help` lists all {len(verbs)} commands.")
    return 0


def _joined(arguments: Sequence[str]) -> list[str]:
    """A value that begins with a minus joined to its option, which would be taken for an option itself."""
    joined: list[str] = []
    for word in arguments:
        is_value = re.match(r"-[\d.]", word) and joined and re.fullmatch(r"--[a-z-]+", joined[-1])
        joined[-1:] = [f"{joined[-1]}={word}"] if is_value else [*joined[-1:], word]
    return joined


def _below(verbs: Mapping[str, Verb], arguments: Sequence[str]) -> dict[str, Verb]:
    """The commands that begin with the words before the first option; unknown words are an error."""
    words = list(takewhile(lambda word: not word.startswith("-"), arguments))
    below = {
        name: verb for name, verb in verbs.items() if name.startswith("".join(f"{word} " for word in words))
    }
    if not below:
        raise UnknownCommand(" ".join(words[:2]), verbs)
    if not words and arguments[0] not in ("--help", "-h"):
        raise UnknownCommand(arguments[0], (*verbs, "--help", "--version"))
    return below
