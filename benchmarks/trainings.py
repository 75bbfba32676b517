"""Sweeps over trainings: each on a worker of an engine, which sends back what it learned; only the driver
writes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from chronoforest.engines import Engine, Places
from chronoforest.files import write_bytes
from chronoforest.models.store import model_path

Models = dict[str, bytes]
"""Files of finished models, by name."""


@dataclass(frozen=True)
class Sweep:
    """Trainings that differ in their folder; recordings: the file in it that is learned from; learn: writes
    models into a folder with those recordings, on a device; kinds: the models that are there when it is done.

    `learn` is a function of a module, because other processes import it.
    """

    recordings: str
    learn: Callable[[Path, str], None]
    kinds: tuple[str, ...]

    def __call__(self, item: tuple[Path, str], places: Places) -> Models:
        """What a worker does for a folder and a device: learn in a folder of its own."""
        folder, device = item
        with TemporaryDirectory() as scratch:
            own = Path(scratch) / folder.name
            own.mkdir()
            shutil.copy(places(folder) / self.recordings, own)
            self.learn(own, device)
            finished = (path for path in own.glob("*.safetensors") if ".training" not in path.suffixes)
            return {path.name: path.read_bytes() for path in finished}

    def is_done(self, folder: Path) -> bool:
        """Whether a folder has all models."""
        return all(model_path(folder, kind).is_file() for kind in self.kinds)


def train_all(
    sweep: Sweep, folders: Sequence[Path], device: str, engine: Engine, keeps: bool = False
) -> list[str]:
    """Learn in every folder and return what failed, a sentence each; keeps: leave out those that are done.

    A training whose worker dies begins anew elsewhere.
    """
    pending = [folder for folder in folders if not (keeps and sweep.is_done(folder))]
    items = [(folder, device) for folder in pending]
    files = [folder / sweep.recordings for folder in pending]
    failures = []
    with closing(engine.answers(sweep, items, files)) as answers:
        for answer in answers:
            folder = pending[answer.index]
            if answer.result is None:
                failures.append(f"{folder}: not trained: {answer.failure}")
                continue
            for name, content in answer.result.items():
                write_bytes(folder / name, content)
            print(f"{folder}: {', '.join(sorted(answer.result))}", flush=True)
    return failures
