import pytest
import torch
from safetensors.torch import load_file
from tiny_ant import SAC

from benchmarks.collect.expert import load_expert
from benchmarks.expert.locomotion import ExpertParams, ExpertRun, SeedFigures, steadiest, train_expert
from chronoforest.models import checkpoint

PARAMS = ExpertParams(
    num_seeds=2,
    num_steps=30,
    ants_per_seed=2,
    batch=8,
    most_random_steps=4,
    eval_ants=2,
    eval_steps=3,
    report_seconds=-1.0,
    sac=SAC,
)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder, reports = tmp_path_factory.mktemp("expert"), []
    chosen, figures = train_expert(PARAMS, ExpertRun(folder, CPU, 1, on_report=reports.append))
    return folder, chosen, figures, reports


def test_a_training_reports_each_seed_and_writes_the_chosen_one(finished):
    folder, chosen, figures, reports = finished
    assert [report.step for report in reports] == list(range(2, 31, 2))
    assert all(len(report.speeds) == len(report.falls_per_1000) == 2 for report in reports)
    assert chosen == steadiest(figures)
    tensors, card = checkpoint.read(folder / "expert.safetensors", "expert")
    assert all(torch.isfinite(tensor).all() for tensor in tensors.values())
    assert (card["num_steps"], card["chosen"]) == (30, chosen)
    assert str(card["num_steps"]) in (folder / "CARD.md").read_text()
    assert [SeedFigures(**figure) for figure in card["figures"]] == figures
    assert load_expert(folder / "expert.safetensors").layers[0][0].shape == (16, 29)


def test_the_same_seed_gives_the_same_expert_with_any_number_of_workers(finished, tmp_path):
    folder, chosen, figures, _ = finished
    assert train_expert(PARAMS, ExpertRun(tmp_path, CPU, 2)) == (chosen, figures)
    before, after = (load_file(path / "expert.safetensors") for path in (folder, tmp_path))
    for name, tensor in before.items():
        torch.testing.assert_close(after[name], tensor, rtol=0, atol=0)


def figure(noisy_speed, noisy_falls):
    return SeedFigures(9.0, 0.0, noisy_speed, noisy_falls)


def test_the_steadiest_of_the_fast_seeds_is_chosen():
    assert steadiest([figure(1.5, 0.4), figure(1.4, 0.1), figure(1.3, 0.0)]) == 1
    assert steadiest([figure(1.4, 0.1), figure(1.5, 0.1)]) == 1
    assert steadiest([figure(1.0, 0.3)]) == 0
    assert steadiest([figure(-0.2, 0.0), figure(-0.1, 0.1)]) == 1  # before anything is learned
