"""Worlds that are learned from recordings at once, or some after the others."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from drives import drives

from chronoforest.data.episodes import load
from chronoforest.data.imports import ImportParams
from chronoforest.errors import BadDataset, UnknownPreset
from chronoforest.presets.learning import add_files, is_learned, learn, learn_files
from chronoforest.presets.loading import load_planner
from chronoforest.presets.named import get_preset
from chronoforest.presets.proposal import Ways
from chronoforest.presets.roadmaps import kept_roadmap
from chronoforest.types import Problem

PARAMS = ImportParams(step=1.0, origin=(0.0, 0.0))
TOMORROW = date.today() + timedelta(days=1)


def roadmap(name):
    preset = get_preset(name)
    return kept_roadmap(preset.weights, preset.name)


@pytest.fixture
def days(tmp_path, monkeypatch):
    """Files of the trips of two days in a town; the second is a third of all."""
    monkeypatch.chdir(tmp_path)
    trips = drives()
    parts = trips[trips.trip < 40], trips[trips.trip >= 40]
    for number, part in enumerate(parts):
        part.to_csv(f"day{number}.csv", index=False)
    return [Path("day0.csv"), Path("day1.csv")]


def test_the_same_recordings_are_known_until_one_is_written_again(days):
    assert not is_learned(days[:1], "town")
    learn_files(days[:1], "town", params=PARAMS)
    assert is_learned(days[:1], "town")
    assert not is_learned(days, "town")
    assert not is_learned([], "town")
    days[0].write_text(days[0].read_text())
    assert not is_learned(days[:1], "town")


def test_a_world_whose_training_was_stopped_plans_as_before_it(days):
    planner = learn(days[0], "town")
    (planner.preset.weights / "distance.safetensors").write_bytes(b"of a training that stopped after it")
    assert not load_planner("town").models.has_networks


def test_what_is_added_makes_the_world_that_all_at_once_make(days):
    learn_files(days[:1], "town", params=PARAMS)
    added = add_files(days[1:], "town")
    learn_files(days, "once", params=PARAMS)
    # Windows of the two days are cut as long as the first day's.
    both, once = load("town.npz"), load("once.npz")
    assert both.num_steps == once.num_steps
    assert len(np.unique(both.owner)) == len(np.unique(once.owner)) == 60
    assert added.num_forgotten == 0
    found, expected = roadmap("town"), roadmap("once")
    assert found.space.angle == expected.space.angle
    anchors = [[20.0, 0.0], [480.0, 400.0]]
    lengths = [
        load_planner(name).plan(Problem(anchors[:1], anchors[1:]), seed=0).length for name in ("town", "once")
    ]
    assert lengths[0] == pytest.approx(lengths[1], rel=0.02)


def test_recordings_are_forgotten_by_the_day_on_which_they_were_taken_in(days):
    learn_files(days[:1], "town", params=PARAMS)
    assert add_files(days[1:], "town", forget_before=date.today()).num_forgotten == 0
    assert add_files(days[1:], "town", forget_before=TOMORROW).num_forgotten == 60
    assert len(np.unique(load("town.npz").owner)) == 20


def test_a_world_takes_in_only_recordings_like_its_own(days):
    learn_files(days[:1], "town", params=PARAMS)
    Path("other.csv").write_text("trip,time,longitude,latitude\n1,0,11.0,47.0\n1,1,11.1,47.1\n")
    with pytest.raises(BadDataset):
        add_files([Path("other.csv")], "town")
    with pytest.raises(UnknownPreset):
        add_files(days, "no such world")


def test_what_is_said_of_ways_is_kept_in_the_preset_and_in_the_roadmap(days):
    learn(days, "free", params=PARAMS, ways=Ways(both_ways=True, turn_round=True))
    learn(days, "lanes", params=PARAMS, ways=Ways(both_ways=False))
    assert roadmap("free").space.angle is None
    assert roadmap("lanes").space.angle is not None
    assert get_preset("free").world.turn_round
    assert not get_preset("lanes").world.turn_round
