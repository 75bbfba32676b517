from pathlib import Path

import pytest

from benchmarks.trainings import Sweep, train_all
from chronoforest.engines import Answer, LocalEngine


def learn(folder: Path, device: str) -> None:
    """Writes two models and what an unfinished training would leave."""
    text = (folder / "trips.npz").read_text()
    for name in ("density.safetensors", "distance.safetensors", "distance.training.safetensors"):
        (folder / name).write_text(f"{name} of {text} on {device}")


SWEEP = Sweep("trips.npz", learn, ("density", "distance"))


@pytest.fixture
def folders(tmp_path):
    made = [tmp_path / name for name in ("40", "100", "300")]
    for folder in made:
        folder.mkdir()
        (folder / "trips.npz").write_text(folder.name)
    return made


@pytest.mark.parametrize("workers", [1, 2])
def test_every_folder_gets_the_models_of_its_recordings(folders, workers):
    assert train_all(SWEEP, folders, "cpu", LocalEngine(workers)) == []
    for folder in folders:
        names = ["density.safetensors", "distance.safetensors", "trips.npz"]
        assert sorted(path.name for path in folder.iterdir()) == names
        text = (folder / "distance.safetensors").read_text()
        assert text == f"distance.safetensors of {folder.name} on cpu"


def test_what_is_done_is_left_out_only_if_asked(folders):
    (folders[0] / "density.safetensors").write_text("old")
    (folders[0] / "distance.safetensors").write_text("old")
    train_all(SWEEP, folders, "cpu", LocalEngine(), keeps=True)
    assert (folders[0] / "density.safetensors").read_text() == "old"
    assert SWEEP.is_done(folders[1])
    train_all(SWEEP, folders, "cpu", LocalEngine())
    assert (folders[0] / "density.safetensors").read_text() != "old"


class DeadlyEngine:
    """The first item ends its workers."""

    def answers(self, work, items, files=()):
        assert [path.name for path in files] == ["trips.npz"] * 3
        yield Answer(0, failure="it died")
        yield from (Answer(k, work(items[k], lambda folder: folder)) for k in (1, 2))


def test_a_training_that_fails_is_told_and_the_others_are_kept(folders):
    assert train_all(SWEEP, folders, "cpu", DeadlyEngine()) == [f"{folders[0]}: not trained: it died"]
    assert [SWEEP.is_done(folder) for folder in folders] == [False, True, True]
