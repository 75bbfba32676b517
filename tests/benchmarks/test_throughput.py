import json

import pytest
from fakes import make_planner, scattered_problem

from benchmarks import throughput
from benchmarks.throughput import Measurement, main, random_pairs
from chronoforest.planning import flights


def test_pairs_are_those_of_their_numbers():
    some, more = (random_pairs("point-medium", 3, numbers) for numbers in (range(1, 5, 2), range(4)))
    assert [one.starts.tolist() for one in some] == [more[k].starts.tolist() for k in (1, 3)]


@pytest.mark.parametrize("at_once", [1, 3])
def test_so_many_problems_are_in_flight_and_all_are_counted(at_once):
    seen = []
    planner = make_planner()
    planned = planner.plan_many
    planner.plan_many = lambda *arguments, **options: (
        seen.append(flights.IN_FLIGHT) or planned(*arguments, **options)
    )
    problems = [scattered_problem(1, 0, seed=k) for k in range(4)]
    usual = flights.IN_FLIGHT
    found = throughput.throughput(planner, problems, 3, at_once)
    assert seen == [at_once]
    assert usual == flights.IN_FLIGHT
    assert (found.at_once, found.count, found.verified) == (at_once, 4, 4)
    assert found.rate == pytest.approx(4 / found.seconds)


def test_a_line_is_printed_for_every_number(monkeypatch, capsys):
    monkeypatch.setattr(throughput, "_ready", lambda preset, device: make_planner())
    monkeypatch.setattr(
        throughput,
        "random_pairs",
        lambda preset, seed, numbers: [scattered_problem(1, 0, seed=k) for k in numbers],
    )
    main(Measurement(count=3, at_once=(1, 2)))
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["at_once"], line["count"], line["verified"]) for line in lines] == [(1, 3, 3), (2, 3, 3)]
