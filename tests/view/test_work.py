import json
from types import SimpleNamespace

import pytest
import torch
from fakes import make_planner

from chronoforest.view.jobs import Cancelled, Desk
from chronoforest.view.requests import PlanRequest
from chronoforest.view.work import interruptible, planning, warming_up

REQUEST = PlanRequest(starts=[(3.0, 3.0)], goals=[(17.0, 17.0)], waypoints=[(3.0, 17.0)])


def test_planning_tells_rounds_and_a_plan_and_keeps_the_result():
    told = []
    planned = planning(make_planner(), REQUEST)(Desk(told.append))
    assert [event.kind for event in told] == ["start", *["round"] * planned.result.num_rounds, "plan"]
    assert json.loads(told[-1].data)["length"] == planned.result.length


def test_watching_does_not_change_the_plan():
    told = []
    planned = planning(make_planner(), REQUEST)(Desk(told.append))
    alone = make_planner().plan(REQUEST.problem())
    assert planned.result.routes[0].path.tolist() == alone.routes[0].path.tolist()


def test_a_cancelled_plan_ends_after_the_round():
    told = []
    desk = Desk(lambda event: (told.append(event), desk.cancel()))
    with pytest.raises(Cancelled):
        planning(make_planner(), REQUEST)(desk)
    assert len(told) == 1


def test_the_denoiser_is_interrupted_within_a_round_and_left_as_it_was():
    net = torch.nn.Linear(2, 2)
    planner = SimpleNamespace(models=SimpleNamespace(sampler=SimpleNamespace(net=net)))
    desk = Desk(lambda event: None)
    with interruptible(planner, desk.check):
        net(torch.zeros(2))
        desk.cancel()
        with pytest.raises(Cancelled):
            net(torch.zeros(2))
    net(torch.zeros(2))
    assert not net._forward_pre_hooks


def test_warming_up_tells_nothing():
    told = []
    places = {"starts": [[3, 3]], "goals": [[17, 17]], "waypoints": []}
    warming_up(make_planner(), places)(Desk(told.append))
    assert told == []
