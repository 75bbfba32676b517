"""Every training verb on a tiny budget: networks and recordings that a test can afford."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tiny import PARAMS, make_episodes

from chronoforest import TrainOptions, load_planner, names, train_preset
from chronoforest.cli import main
from chronoforest.data.episodes import flat_arrays, write_arrays
from chronoforest.errors import BadCheckpoint
from chronoforest.models import checkpoint, distil, store
from chronoforest.models.params import SamplerParams
from chronoforest.planning.planner import MaxRounds
from chronoforest.presets.named import PRESETS, Preset
from chronoforest.presets.quality import MEASURES, WeakModels, read_marks, verdicts
from chronoforest.types import Problem

NAME = "tiny-v0"
OTHER = "other-v0"


@pytest.fixture(scope="module", autouse=True)
def presets():
    """Two presets with tiny models and a student of few lessons, as long as this module runs."""
    with pytest.MonkeyPatch.context() as patch:
        for name in (NAME, OTHER):
            patch.setitem(PRESETS, name, Preset(name, PARAMS, SamplerParams(num_steps=4)))
            patch.setitem(names.PRESETS, name, name)
        patch.setattr(distil, "LessonParams", partial(distil.LessonParams, num_segments=16, part=8))
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with recordings for training and for validation."""
    folder = tmp_path_factory.mktemp("data")
    for suffix, seed in (("", 0), ("-val", 1)):
        write_arrays(folder / f"{NAME}{suffix}.npz", flat_arrays(make_episodes(num_episodes=40, seed=seed)))
    return folder


def command(verb, data, out, *more, steps="4"):
    options = ["--preset", NAME, "--data", str(data), "--out", str(out), "--device", "cpu"]
    return ["train", verb, *options, "--steps", steps, "--batch", "8", *more]


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """A folder in which `train all` has run."""
    out = tmp_path_factory.mktemp("runs") / NAME
    assert main(command("all", data, out)) == 0
    return out


def test_train_all_makes_weights_that_plan(trained):
    with pytest.warns(WeakModels, match="verification may be poor"):  # after four steps
        planner = load_planner(NAME, weights=trained)
    problem = Problem(starts=[[3.0, 3.0]], goals=[[7.0, 7.0]], waypoints=[[3.0, 7.0]])
    result = planner.plan(problem, stop=MaxRounds(3))
    assert result.preset == NAME
    assert result.complete == (not result.unmet)
    assert result.routes[0].path[0].tolist() == [3.0, 3.0]


def test_the_library_trains_what_the_verbs_do_and_tells_its_progress(trained, data, tmp_path):
    seen = []
    options = TrainOptions(NAME, data=data, out=tmp_path, device="cpu", steps=4, batch=8)
    (model,) = train_preset(options, ("distance",), lambda kind, progress: seen.append((kind, progress.step)))
    assert seen == [("distance", 4)]
    assert model.path == store.model_path(tmp_path, "distance")
    tensors = [checkpoint.read(folder / model.path.name, "distance")[0] for folder in (tmp_path, trained)]
    assert all(np.array_equal(tensor, tensors[1][name]) for name, tensor in tensors[0].items())


@pytest.mark.parametrize("verb", ["density", "distance", "tracker"])
def test_a_verb_writes_its_model_prints_its_figures_and_how_to_repeat_it(verb, data, tmp_path, capsys):
    assert main(command(verb, data, tmp_path)) == 0
    assert f"{verb}.safetensors: held_out_" in capsys.readouterr().out
    card = checkpoint.read(store.model_path(tmp_path, verb), verb)[1]
    assert card["command"] == f"chronoforest train {verb} --preset {NAME} --steps 4 --batch 8"
    assert not store.model_path(tmp_path, "denoiser").exists()


def test_another_tracker_is_kept_beside_the_presets_own(trained, data, tmp_path, capsys):
    for kind in ("density", "distance", "denoiser", "tracker"):
        store.model_path(tmp_path, kind).write_bytes(store.model_path(trained, kind).read_bytes())
    own = store.model_path(tmp_path, "tracker").read_bytes()
    assert main(command("tracker", data, tmp_path, "--tracker", "bc")) == 0
    assert "tracker-bc.safetensors: held_out_action_error" in capsys.readouterr().out
    card = checkpoint.read(store.model_path(tmp_path, "tracker-bc"), "tracker")[1]
    assert card["command"] == f"chronoforest train tracker --preset {NAME} --tracker bc --steps 4 --batch 8"
    assert store.model_path(tmp_path, "tracker").read_bytes() == own
    cloned, weighted = (load_planner(NAME, weights=tmp_path, tracker=name) for name in ("bc", None))
    place = np.full(2, 5.0)
    assert not np.allclose(cloned.tracker(place, place), weighted.tracker(place, place))
    with pytest.raises(
        BadCheckpoint, match=r"tracker-diffusion-ql\.safetensors; .* has tracker\.safetensors"
    ):
        load_planner(NAME, weights=tmp_path, tracker="diffusion-ql")


def test_the_denoiser_wants_its_density_first(data, tmp_path, capsys):
    assert main(command("denoiser", data, tmp_path)) == 2
    assert "density.safetensors" in capsys.readouterr().err
    assert main(command("density", data, tmp_path)) == 0
    assert main(command("denoiser", data, tmp_path)) == 0
    assert "leaving_unsupported_share" in capsys.readouterr().out


def test_weights_of_another_preset_are_refused(trained):
    with pytest.raises(BadCheckpoint, match=f"was trained for '{NAME}', not for '{OTHER}'"):
        load_planner(OTHER, weights=trained)


def test_resume_goes_on_and_refuses_other_settings_by_name(data, tmp_path, capsys):
    assert main(command("distance", data, tmp_path)) == 0
    assert main(command("distance", data, tmp_path, "--resume")) == 0
    assert main(command("distance", data, tmp_path, "--resume", steps="6")) == 2
    error = capsys.readouterr().err
    assert "was trained with num_steps = 4, this run has 6" in error
    assert error.count("\n") == 1


def test_ctrl_c_ends_with_130_and_what_was_trained_is_kept(data, tmp_path, capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("chronoforest.models.fit.draw_steps", interrupt)
    assert main(command("tracker", data, tmp_path)) == 130
    assert "what was saved so far is kept" in capsys.readouterr().err
    assert (tmp_path / "tracker.training.safetensors").is_file()
    assert not store.model_path(tmp_path, "tracker").exists()


@pytest.mark.parametrize(
    ("option", "sentence"), [("--data", "no such file"), ("--init", "no checkpoint at nowhere")]
)
def test_files_that_are_not_there_are_one_line_before_anything_is_written(
    option, sentence, data, tmp_path, capsys
):
    assert main([*command("distance", data, tmp_path / "new"), option, "nowhere"]) == 2
    error = capsys.readouterr().err
    assert (sentence in error, error.count("\n")) == (True, 1)
    assert not (tmp_path / "new").exists()


def test_a_damaged_dataset_is_named(data, tmp_path, capsys):
    for suffix in ("", "-val"):
        whole = (data / f"{NAME}{suffix}.npz").read_bytes()
        (tmp_path / f"{NAME}{suffix}.npz").write_bytes(whole[: len(whole) // 2])
    assert main(command("density", tmp_path, tmp_path / "new")) == 2
    assert f"{NAME}.npz" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_one_line(data, tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    assert main(command("density", data, tmp_path / "taken" / "new")) == 2
    error = capsys.readouterr().err
    assert "cannot write" in error
    assert error.count("\n") == 1


def test_training_ends_with_marks_that_are_printed_and_stored(data, tmp_path, capsys):
    """Once density, distance and denoiser are there; before that there is nothing to plan with."""
    for verb in ("density", "distance"):
        assert main(command(verb, data, tmp_path)) == 0
    assert read_marks(tmp_path) == []
    capsys.readouterr()
    assert main(command("denoiser", data, tmp_path)) == 0
    marks = read_marks(tmp_path)
    assert [one.name for one in marks] == list(MEASURES)
    assert capsys.readouterr().out.count(f"{tmp_path}: ") == len(verdicts(marks)) == 3


def test_a_training_that_ended_early_says_so(data, tmp_path, capsys, monkeypatch):
    errors = itertools.count(1.0)
    monkeypatch.setattr("chronoforest.models.fit._broken_share", lambda *asked: next(errors))
    assert main(command("density", data, tmp_path)) == 0
    assert main(command("denoiser", data, tmp_path, "--patience", "0.1", steps="50")) == 0
    told = capsys.readouterr().out
    assert "ended early: the held-out error is no better since step 1, whose weights were kept" in told
    card = store.Stored.read(tmp_path, "denoiser").card
    assert card["command"].endswith("--patience 0.1")
    assert [step for step, _ in card["watch"]["looks"]] == [1, 2, 3, 4, 5, 6]


def test_recordings_that_cannot_be_learned_from_are_refused_before_any_work(tmp_path, capsys):
    """An import cut trips into pieces of eleven rows; nothing is written, and what to change is said."""
    write_arrays(tmp_path / f"{OTHER}.npz", flat_arrays(make_episodes(num_steps=11)))
    PRESETS[OTHER] = replace(
        PRESETS[OTHER], models=replace(PARAMS, distance=replace(PARAMS.distance, backup=12))
    )
    out = tmp_path / "out"
    line = ["train", "all", "--preset", OTHER, "--data", str(tmp_path), "--out", str(out)]
    assert main([*line, "--device", "cpu"]) == 2
    told = capsys.readouterr().err
    assert "11 rows are shorter than the 24 that models.distance.backup = 12 needs" in told
    assert not out.exists()
