"""A proposal follows the recordings: their scale, their length, their direction."""

from pathlib import Path

import numpy as np
import pytest
from toy_world import as_tables, ring_episodes

from chronoforest.data.episodes import Episodes
from chronoforest.errors import BadDataset
from chronoforest.models.density import DensityParams, fit_density
from chronoforest.models.params import num_tokens
from chronoforest.presets.named import Preset, overlay
from chronoforest.presets.proposal import Statistics, propose
from chronoforest.search.junction import EXEC_SCALE


def proposed(episodes):
    return {setting.name: setting.value for setting in propose(episodes, "x.npz")}


def test_every_setting_fits_a_preset_and_has_a_reason():
    for episodes in (ring_episodes(), ring_episodes(is_one_way=False, num_actions=3)):
        settings = propose(episodes, "x.npz")
        has_tracker = any(setting.name.startswith("models.tracker") for setting in settings)
        assert has_tracker == episodes.has_actions
        preset = overlay(Preset("ring"), as_tables(settings), Path("ring.toml"))
        assert preset.models.window.span < episodes.num_steps
        assert num_tokens(preset.models.window.horizon) > 1
        assert all(setting.reason for setting in settings)


def test_a_one_way_world_is_told_from_one_that_leads_back():
    directed, reversible = (proposed(ring_episodes(is_one_way=flag)) for flag in (True, False))
    assert not directed["world.is_reversible"]
    assert directed["world.is_one_way"]
    assert reversible["world.is_reversible"]
    assert not reversible["world.is_one_way"]
    window = directed["models.distance.reach"] / 16
    assert directed["planner.search.junction.continuity"] == pytest.approx(EXEC_SCALE * window, rel=1e-3)
    stride = reversible["models.window.stride"]
    assert reversible["planner.search.junction.continuity"] == pytest.approx(EXEC_SCALE * 4 * stride)


@pytest.mark.parametrize("is_one_way", [True, False])
def test_where_recordings_are_thin_the_places_that_show_a_direction_tell(is_one_way):
    found = Statistics(ring_episodes(num_episodes=8, is_one_way=is_one_way, seed=1))
    assert found.is_one_way is is_one_way
    assert found.step == pytest.approx(0.8, rel=0.05)
    assert found.span == 40


def test_a_trip_to_another_town_changes_neither_the_width_of_ways_nor_what_is_far():
    usual = ring_episodes(num_episodes=200)
    places = usual.observations.copy()
    far_away = np.linspace(0.0, 1e4, usual.num_steps)[:, None] * np.ones(2)
    strayed = np.concatenate([places, [far_away]]).astype(np.float32)
    before, after = (Statistics(Episodes(xy, np.zeros((*xy.shape[:2], 0)))) for xy in (places, strayed))
    for name in ("bandwidth", "room", "far"):
        assert getattr(after, name) == pytest.approx(getattr(before, name), rel=0.1), name


def test_a_backup_is_at_most_half_a_recording():
    along = np.linspace(0.0, 1e4, 400)[:, None] + 0.8 * np.arange(21)
    walks = np.stack([along, np.zeros_like(along)], axis=-1).astype(np.float32)
    found = Statistics(Episodes(walks, np.zeros((*walks.shape[:2], 0), dtype=np.float32)))
    assert found.far / found.num_backups > 21
    assert found.backup == 10


def test_a_few_strays_do_not_make_a_busy_one_way_street_lead_back():
    """Three of a hundred drives are recorded against the others: one passes almost every place."""
    usual = ring_episodes(num_episodes=400)
    places = usual.observations.copy()
    places[::33] = places[::33, ::-1]
    assert Statistics(Episodes(places, usual.actions)).is_one_way
    places[::4] = places[::4, ::-1]
    assert not Statistics(Episodes(places, usual.actions)).is_one_way


def test_jumps_make_a_world_irreversible_and_lucky():
    episodes = ring_episodes(num_episodes=200, is_one_way=False, num_actions=3)
    places = episodes.observations.copy()
    places[::8, 20:] += 60.0
    jumping = Episodes(places, episodes.actions)
    values = proposed(jumping)
    assert not values["world.is_reversible"]
    assert not values["world.is_one_way"]
    assert values["planner.search.uncertainty_weight"] == 10.0
    assert not values["models.distance.has_moves_for_actions"]
    assert values["models.distance.backup"] == 1


LENGTHS = (
    "models.density.bandwidth",
    "world.jump",
    "models.distance.longest_period",
    "planner.anchor_tolerance",
    "planner.assembly.keep_margin",
    "planner.assembly.edge",
    "sampler.guidance.rdf_radius",
    "execution.look_ahead",
)
DURATIONS = (
    "models.window.stride",
    "models.distance.reach",
    "planner.search.meeting_radius",
    "planner.search.junction.cluster_cut",
    "planner.budget.certified_gap",
)


def test_lengths_follow_the_unit_and_durations_do_not():
    metres, millimetres = (proposed(ring_episodes(unit=unit)) for unit in (1.0, 1000.0))
    for name in LENGTHS:
        assert millimetres[name] == pytest.approx(1000 * metres[name], rel=0.02), name
    for name in DURATIONS:
        assert millimetres[name] == pytest.approx(metres[name], rel=0.02), name


def test_recordings_that_stand_still_or_are_too_short_are_refused():
    still = Episodes(np.zeros((3, 20, 2), np.float32), np.zeros((3, 20, 0), np.float32))
    with pytest.raises(BadDataset, match="move"):
        propose(still, "x.npz")
    with pytest.raises(BadDataset, match="episodes of 8 rows are too short"):
        propose(ring_episodes(num_steps=8), "x.npz")


def test_recordings_far_apart_are_not_blurred_into_one():
    """Two walks 50 steps apart: what lies between them was never recorded and must not become support."""
    along = np.linspace(0.0, 20.0, 101)
    walks = np.stack([np.stack([along, np.full(101, y)], axis=-1) for y in (0.0, 10.0)]).astype(np.float32)
    found = Statistics(Episodes(walks, np.zeros((2, 101, 0), dtype=np.float32)))
    assert found.step == pytest.approx(0.2, rel=1e-3)
    assert found.bandwidth == pytest.approx(3 * found.step)


def test_streets_driven_both_ways_are_as_narrow_as_recordings_lie_and_the_open_is_not():
    rng = np.random.default_rng(3)
    along = np.where(rng.random((60, 1)) < 0.5, 1, -1) * np.linspace(-500.0, 500.0, 51)
    for spread, is_street in ((2.0, True), (60.0, False)):
        walks = np.stack([along, np.broadcast_to(rng.normal(0, spread, (60, 1)), along.shape)], axis=-1)
        found = Statistics(Episodes(walks.astype(np.float32), np.zeros((60, 51, 0), dtype=np.float32)))
        assert not found.is_one_way
        assert (found.bandwidth < 0.5 * found.blur) is is_street
        assert (found.room < 15.0) is is_street


def test_the_room_of_lanes_is_measured_on_the_density_that_is_trained():
    """Strays beside a lane widen what was recorded, but not the lane."""
    usual = ring_episodes(num_episodes=200)
    rng = np.random.default_rng(0)
    aside = np.where(rng.random(len(usual.xy)) < 0.1, rng.normal(0.0, 1.5, len(usual.xy)), 0.0)
    moved = (usual.observations + aside[:, None, None]).astype(np.float32)
    strayed = Statistics(Episodes(moved, usual.actions))
    params = DensityParams(strayed.bandwidth)
    trained = fit_density(strayed.xy, params, strayed.episodes.jump, strayed.stride)
    without_lanes = fit_density(strayed.xy, params, strayed.episodes.jump)
    kept, wider = (np.quantile(d.margin(strayed.xy.reshape(-1, 2)), 0.25) for d in (trained, without_lanes))
    assert strayed.is_one_way
    assert strayed.room == pytest.approx(kept, rel=0.05)
    assert wider > 1.2 * kept
