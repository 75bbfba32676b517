"""What is known of a path from anywhere, and that a plan knows no more of its own ways."""

import numpy as np
import pytest
from fakes import BLOCK, FakeModels, SquareDensity, StraightSampler, make_planner, scattered_problem
from searches import ACROSS

from chronoforest.data.frames import Frame
from chronoforest.errors import InvalidParameter
from chronoforest.planning.planner import Planner
from chronoforest.planning.sources.roadmap import ProposalParams
from chronoforest.planning.variants import PlannerParams
from chronoforest.types import path_length

BESIDE = np.array([[3.0, 3.0], [17.0, 3.0]])
MOVE = np.array([500.0, -40.0])
THROUGH = np.array([[3.0, 10.0], [17.0, 10.0]])


class Still(StraightSampler):
    """Nobody moves at all."""

    def __call__(self, query, rng):
        return np.repeat(query.boundary[:, None], self.horizon + 1, axis=1)


def planner(sampler=None, **options):
    models = FakeModels(density=SquareDensity(BLOCK), sampler=sampler or StraightSampler())
    return Planner(models, PlannerParams(), "square", **options)


def test_every_piece_is_verified_or_refuted_by_what_speaks_against_it():
    found = planner().verify(THROUGH)
    kinds = {(piece.state, piece.refuted_by) for piece in found.pieces}
    assert kinds == {("verified", None), ("refuted", "support")}
    assert 0 < found.verified < 1
    assert found.verified + found.share("refuted") == pytest.approx(1.0)
    assert found.share("refuted", "support") == found.share("refuted")
    assert planner().verify(BESIDE).verified == 1.0
    assert planner(Still()).verify(BESIDE).share("refuted", "motion") == 1.0


def test_pieces_make_up_the_path():
    found = planner().verify(BESIDE)
    np.testing.assert_allclose(found.path[[0, -1]], BESIDE)
    assert sum(found.lengths) == pytest.approx(path_length(BESIDE))
    assert [end for _, end, _, _ in found.rows()] == pytest.approx(np.cumsum(found.lengths))


@pytest.mark.parametrize("options", [{"can_verify": False}, {"can_refute": False}])
def test_what_a_weak_denoiser_does_not_realise_is_unknown(options):
    """Support speaks for itself; nothing is refuted by motion."""
    found = planner(Still(), **options).verify(THROUGH)
    assert {(piece.state, piece.refuted_by) for piece in found.pieces} == {
        ("unknown", None),
        ("refuted", "support"),
    }
    assert found.verified == 0.0


def test_a_denoiser_that_cannot_be_asked_is_not_asked():
    weak = planner(can_verify=False)
    assert weak.verify(BESIDE).share("unknown") == 1.0


def test_paths_and_pieces_are_in_the_users_coordinates():
    models = FakeModels(density=SquareDensity(BLOCK))
    moved = Planner(models, PlannerParams(), "moved", frame=Frame(origin=(500.0, -40.0)))
    found = moved.verify(THROUGH + MOVE)
    np.testing.assert_allclose(found.path[[0, -1]], THROUGH + MOVE)
    assert [one.state for one in found.pieces] == [one.state for one in planner().verify(THROUGH).pieces]
    segments = [one.segment for one in found.pieces if one.segment is not None]
    assert all((segment[:, 0] > 490.0).all() for segment in segments)


def test_the_same_seed_gives_the_same_verdicts_however_long_the_path_is():
    """Long paths are asked about in parts, each of which fits a batch."""
    path = np.concatenate([BESIDE, BESIDE[::-1]] * 40)
    asked = planner()
    found = asked.verify(path, seed=3)
    most = asked.prepared("verified").checker.params.most_rows
    assert max(map(len, asked.models.sampler.queries)) <= most
    again = planner().verify(path, seed=3)
    for one, other in zip(found.pieces, again.pieces, strict=True):
        np.testing.assert_array_equal(one.segment, other.segment)


@pytest.mark.parametrize(
    "wrong", [[[1.0, 1.0]], [1.0, 2.0], [[1.0, 1.0], [1.0, 1.0]], [[1.0, np.nan], [2.0, 2.0]]]
)
def test_what_is_no_path_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        planner().verify(wrong)


def test_a_path_that_is_no_place_of_the_globe_is_refused():
    on_earth = Planner(FakeModels(), PlannerParams(), "earth", frame=Frame("degrees", (8.0, 47.0)))
    with pytest.raises(InvalidParameter):
        on_earth.verify([[500.0, 120.0], [501.0, 120.0]])


def test_a_plans_own_proposals_are_verified_when_they_are_asked_about_again():
    result = planner().plan(ACROSS)
    (leg,) = result.routes[0].legs
    assert leg.evidence == "verified"
    assert planner().verify(leg.proposed).verified == 1.0


class Weaving(StraightSampler):
    """Segments weave a little about the straight line, and so are a little longer."""

    def __call__(self, query, rng):
        segments = super().__call__(query, rng)
        segments[..., 1] += 0.05 * np.sin(np.linspace(0.0, 4.0 * np.pi, self.horizon + 1))
        return segments


def test_a_verified_leg_hands_out_the_generated_segments():
    result = make_planner().plan(ACROSS)
    weaving = Planner(FakeModels(sampler=Weaving()), PlannerParams(), "weaving").plan(ACROSS)
    for plan, is_straight in ((result, True), (weaving, False)):
        (route,), longest = plan.routes, ProposalParams().longest
        (leg,) = route.legs
        np.testing.assert_allclose(route.path[[0, -1]], leg.proposed[[0, -1]])
        assert route.length <= longest * path_length(leg.proposed)
        bend = np.abs(np.diff(np.arctan2(*np.diff(route.path, axis=0).T)))
        assert (bend.max() < 0.2) == is_straight


def test_a_proposed_leg_hands_out_what_was_proposed():
    result = make_planner().plan(scattered_problem(1, 2), variant="roadmap-only")
    assert all(leg.proposed is None for route in result.routes for leg in route.legs)


def test_it_draws_itself(tmp_path):
    found = planner().verify(THROUGH)
    axes = found.plot(tmp_path / "path.png")
    assert (tmp_path / "path.png").is_file()
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["verified", "refuted"]
    assert found._repr_html_().count("<svg") == 1
