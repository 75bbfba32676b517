import json
import warnings

import numpy as np
import pytest

from chronoforest.errors import BadCheckpoint
from chronoforest.presets import quality
from chronoforest.presets.loading import load_planner
from chronoforest.presets.named import get_preset
from chronoforest.roadmap.roadmap import Roadmap, RoadmapParams, inferred
from chronoforest.roadmap.states import StateSpace
from chronoforest.roadmap.transitions import Times
from chronoforest.roadmap.verify import Piece, Verdict
from chronoforest.roadmap.ways import Joined
from chronoforest.types import Problem

NAME = "pointmaze-medium-stitch-v0"


@pytest.mark.parametrize(
    ("name", "value", "grade"),
    [
        ("confirmed_ways", 1.0, "good"),
        ("confirmed_ways", 0.8, "fair"),
        ("confirmed_ways", 0.5, "poor"),
        ("learned_by_heart", 1.0, "good"),
        ("learned_by_heart", 3.0, "fair"),
        ("learned_by_heart", 6.5, "poor"),
        ("distance_order", float("nan"), "poor"),
    ],
)
def test_grades_know_which_way_is_better(name, value, grade):
    assert quality.Mark(name, value).grade == grade


def test_what_is_not_good_says_what_to_do_and_what_is_good_does_not():
    poor, good = quality.Mark("torn_segments", 0.37), quality.Mark("torn_segments", 0.01)
    assert str(poor).startswith("poor: 37.0 % of generated segments jump")
    assert "train the denoiser longer" in str(poor)
    assert str(good) == "good: 1.0 % of generated segments jump where recordings do not"


def joined(source, target, count=4):
    """An anchor at each of some places far apart, with hops between these."""
    hops = inferred(np.array(source), np.array(target), *np.ones((2, len(source))))
    places = 100.0 * np.stack([np.arange(count), np.arange(count)], axis=1)
    times = Times(hops.steps, np.ones(1), np.ones((1, 3)))
    space = StateSpace(("x", "y"), 1.0, None, is_open=True)
    road = Roadmap(space, places, 0.0 * places, hops, places, times, RoadmapParams(), 1.0)
    return Joined.of(road, places)


def test_ways_that_join_count_each_way_for_itself():
    """Of four places two lead to each other, the third can be reached but not left, the fourth is alone."""
    assert quality.joined_share(joined([0, 1, 1, 3], [1, 0, 2, 3])) == pytest.approx(4 / 12)
    assert quality.joined_share(joined([0, 1, 2, 3], [1, 2, 3, 0])) == 1.0


def test_the_ways_asked_about_are_pieces_of_recordings():
    asked = []

    class Checker:
        piece_length = 2.0

        def settled(self, pieces, counts, rng):
            asked.extend(pieces)
            return [Piece(piece, Verdict(piece if piece[0, 1] < 1 else None, 1)) for piece in pieces]

    tracks = np.stack([[[0.1 * k, float(row)] for k in range(60)] for row in range(4)])
    assert quality.confirmed_share(Checker(), tracks) == 0.25
    for piece in asked:
        np.testing.assert_allclose([piece[0, 0], piece[-1, 0]], [0.0, 5.9 / 3], atol=1e-9)


def write_marks(folder, *marks):
    text = {"format": quality.FORMAT, "marks": [vars(one) for one in marks]}
    (folder / quality.FILE).write_text(json.dumps(text))


def test_marks_are_read_as_they_were_written(tmp_path):
    marks = [quality.Mark("torn_segments", 0.2), quality.Mark("joined_places", 1.0)]
    write_marks(tmp_path, *marks)
    assert quality.read_marks(tmp_path) == marks


def test_weights_without_marks_load_silently():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_planner(NAME)


@pytest.fixture
def copied(tmp_path):
    """The shipped weights in a folder of their own."""
    for path in get_preset(NAME).weights.glob("*.safetensors"):
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def test_weak_weights_warn_with_what_to_do_and_fair_ones_do_not(copied):
    write_marks(copied, quality.Mark("torn_segments", 0.2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_planner(NAME, weights=copied)
    write_marks(copied, quality.Mark("torn_segments", 0.2), quality.Mark("joined_places", 0.1))
    with pytest.warns(quality.WeakModels, match=r"10\.0 % of the ways.*record ways between") as caught:
        load_planner(NAME, weights=copied)
    assert "torn" not in str(caught[0].message)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():  # once
        warnings.simplefilter("error")
        load_planner(NAME, weights=copied)


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "other", "marks": []}', '{"marks": []}'])
def test_damaged_marks_are_named(text, tmp_path):
    (tmp_path / quality.FILE).write_text(text)
    with pytest.raises(BadCheckpoint, match=quality.FILE):
        quality.read_marks(tmp_path)


def test_a_verdict_speaks_of_one_thing_and_its_worst_figure(tmp_path):
    marks = [quality.Mark(name, 0.2) for name in ("unseen_places", "torn_segments", "confirmed_ways")]
    marks.append(quality.Mark("distance_order", 0.99))
    found = {one.about: (one.name, one.grade) for one in quality.verdicts(marks)}
    assert found == {
        "routes": ("unseen_places", "poor"),
        "distances": ("distance_order", "good"),
        "verification": ("confirmed_ways", "poor"),
    }


def test_a_denoiser_that_hardly_confirms_what_was_driven_is_not_asked(copied):
    problem = Problem([[0.0, 0.0]], [[4.0, 0.0]])
    for share, evidence in ((0.6, "verified"), (0.4, "inferred")):
        write_marks(copied, quality.Mark("confirmed_ways", share))
        with pytest.warns(quality.WeakModels) as caught:
            planner = load_planner(NAME, weights=copied)
        assert ("is not asked" in str(caught[0].message)) == (evidence == "inferred")
        (leg,) = planner.plan(problem).routes[0].legs
        assert leg.evidence == evidence


@pytest.mark.filterwarnings("ignore::chronoforest.presets.quality.WeakModels")
@pytest.mark.parametrize(("share", "is_believed"), [(0.96, False), (0.98, True)])
def test_a_denoiser_that_misses_more_than_one_driven_way_in_fifty_does_not_refute_any(
    copied, share, is_believed
):
    write_marks(copied, quality.Mark("confirmed_ways", share))
    assert load_planner(NAME, weights=copied).prepared("verified").variant.refutes == is_believed
