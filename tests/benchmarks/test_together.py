"""Plans made together beside plans made alone, on the fake square and, where there is one, on a GPU."""

import json

import pytest
import torch
from fakes import BLOCK, FakeModels, SquareDensity, StraightSampler, make_planner, scattered_problem

from benchmarks import together
from benchmarks.throughput import random_pairs
from benchmarks.together import Measurement, agreement, main
from chronoforest.peers.choice import PlannerChoice
from chronoforest.planning.planner import Planner
from chronoforest.planning.variants import PlannerParams


class Crowded(StraightSampler):
    """Segments depend a little on how many are asked for at the same time, as on a GPU."""

    def __call__(self, query, rng):
        return super().__call__(query, rng) + 1e-6 * len(query)


def several():
    return [scattered_problem(1, 1, BLOCK, seed) for seed in range(4)]


def test_on_fakes_everything_is_the_same():
    found = agreement(make_planner(BLOCK), several())
    assert (found.count, found.num_same_paths, found.num_same_evidence) == (4, 4, 4)
    assert (found.largest_path, found.largest_segment, found.largest_length) == (0.0, 0.0, 0.0)


def test_a_difference_is_measured():
    models = FakeModels(density=SquareDensity(BLOCK), sampler=Crowded())
    found = agreement(Planner(models, PlannerParams(), "crowded"), several())
    assert 0.0 < found.largest_segment < 1e-2


def test_the_verb_prints_a_line(monkeypatch, capsys):
    monkeypatch.setattr(PlannerChoice, "load", lambda self: make_planner(BLOCK))
    monkeypatch.setattr(together, "random_pairs", lambda preset, seed, numbers: several()[: len(numbers)])
    main(Measurement(count=2))
    assert json.loads(capsys.readouterr().out)["num_same_paths"] == 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_on_a_gpu_lengths_differ_by_less_than_a_hundredth():
    """Where the verdict on a piece hangs on rounding a leg may differ: that is rare."""
    planner = PlannerChoice("point-medium", device="cuda").load()
    found = agreement(planner, random_pairs("point-medium", 3, range(30)))
    assert found.num_same_evidence >= 0.9 * found.count
    assert found.largest_length < 1e-2
