from dataclasses import fields, is_dataclass, replace

import pytest

from chronoforest.errors import (
    BadCheckpoint,
    BadPresetFile,
    ChronoForestError,
    InvalidParameter,
    UnknownPreset,
)
from chronoforest.models import checkpoint
from chronoforest.models.params import num_tokens
from chronoforest.names import PRESETS as SHORT_NAMES
from chronoforest.presets.loading import load_planner
from chronoforest.presets.named import PRESETS, get_preset

GIANT = "pointmaze-giant-stitch-v0"


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_preset_is_found_by_its_own_name_and_its_parts_fit_together(name):
    preset = get_preset(name)
    assert preset.name == name
    assert preset.weights.name == name
    window = preset.models.window
    assert num_tokens(window.horizon) > 1
    assert preset.models.world == preset.planner.world == preset.execution.world == preset.world


def test_the_teleport_world_is_directed_in_its_models_and_its_search():
    for name, preset in PRESETS.items():
        is_directed = "teleport" in name
        assert preset.planner.is_reversible == (not is_directed)
        assert (preset.models.goals.current_share > 0) == is_directed
        assert preset.planner.search.uncertainty_weight == (10.0 if is_directed else 0.1)


def leaves(params, where=""):
    """Dotted names of all that a preset may be told, the world counted once."""
    for part in fields(params):
        value, name = getattr(params, part.name), f"{where}{part.name}"
        if is_dataclass(value):
            yield from leaves(value, f"{name}.") if not where or part.name != "world" else ()
        else:
            yield name


def test_a_preset_is_no_more_than_a_person_can_read():
    names = leaves(get_preset("antmaze-giant-stitch-v0"))
    assert sum(not name.startswith("frame.") for name in names) <= 90  # the frame is the recordings' own


def test_an_unknown_preset_lists_the_known_ones():
    with pytest.raises(UnknownPreset) as error:
        load_planner("pointmaze-tiny-stitch-v0")
    assert all(name in str(error.value) for name in ("'pointmaze-tiny-stitch-v0'", *SHORT_NAMES, "NAME.toml"))


def test_the_fast_mode_samples_less_and_changes_nothing_that_is_learned():
    preset = get_preset(GIANT)
    fast = preset.fast()
    assert fast.sampler.num_steps < preset.sampler.num_steps
    assert fast.planner.search.junction.num_samples < preset.planner.search.junction.num_samples
    assert fast.models == preset.models
    junction = replace(fast.planner.search.junction, num_samples=preset.planner.search.junction.num_samples)
    search = replace(fast.planner.search, junction=junction)
    assert fast.planner.challenge.max_doubts == 0
    challenge = preset.planner.challenge
    assert replace(fast.planner, search=search, challenge=challenge) == preset.planner


@pytest.mark.parametrize(
    ("options", "refusal", "sentence"),
    [
        ({"mode": "slow"}, InvalidParameter, "'default' or 'fast', got 'slow'"),
        ({"device": "toaster"}, InvalidParameter, "auto, cpu or cuda, got 'toaster'"),
        ({"weights": 1}, InvalidParameter, "got 1"),
        ({"weights": "w" * 400}, BadCheckpoint, "www"),
        ({"weights": "nowhere"}, BadCheckpoint, "`chronoforest train` writes one"),
    ],
)
def test_what_no_planner_can_be_made_of_is_refused(options, refusal, sentence):
    with pytest.raises(refusal, match=sentence):
        load_planner(GIANT, **options)


def test_every_weight_file_is_read_once(monkeypatch):
    read, seen = checkpoint.read_arrays, []
    monkeypatch.setattr(
        checkpoint, "read_arrays", lambda path, *rest: (seen.append(path.stem), read(path, *rest))[1]
    )
    load_planner(GIANT)
    assert sorted(seen) == ["denoiser", "density", "distance", "student", "tracker"]


def test_a_preset_is_found_by_the_name_or_path_of_its_file(tmp_path, monkeypatch):
    (tmp_path / "yard.toml").write_text('data = "sets/yard.npz"\n[world]\nis_reversible = false\n')
    by_path = get_preset(str(tmp_path / "yard.toml"))
    assert by_path.name == "yard"
    assert not by_path.planner.is_reversible
    assert by_path.recordings == tmp_path / "sets" / "yard.npz"
    monkeypatch.chdir(tmp_path)
    assert get_preset("yard").planner == by_path.planner
    assert str(get_preset("yard").weights) == "runs/yard"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('name = "x"', "name cannot be set"),
        ("[models.distance]\nlatent = 8", "width, reach; the rest is the same for every preset"),
        ("[planner.world]\njump = 3.0", "unknown key planner.world; planner may set: "),
        ("[world]\njump = 0.0", "in world: jump must be above 0, got 0.0"),
        ("[models.window]\nhorizon = 35", "multiple of 10 frames, got 35"),
        ("[search]\nx = 1", "unknown key search; the file may set: "),
        ('[planner.search]\nranking = "l2"', "unknown key planner.search.ranking"),
    ],
)
def test_a_preset_file_that_does_not_fit_is_one_sentence(text, sentence, tmp_path):
    (tmp_path / "odd.toml").write_text(text)
    with pytest.raises(ChronoForestError, match=sentence) as error:
        get_preset(str(tmp_path / "odd.toml"))
    assert "odd.toml" in str(error.value)


def test_a_missing_preset_file_names_the_verb_that_writes_one():
    with pytest.raises(BadPresetFile, match="`chronoforest preset new NAME --data FILE` writes one"):
        get_preset("nowhere.toml")


@pytest.mark.parametrize("name", ["x" * 400, "x" * 400 + ".toml", "y/" + "x" * 400])
def test_a_name_too_long_for_a_file_is_refused(name):
    with pytest.raises(ChronoForestError, match="xxx"):
        get_preset(name)
