import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny_ant import make_sac, write_ant_expert

from benchmarks.collect.expert import ACTION_DIM, KIND, OBSERVATION_DIM, load_expert
from chronoforest.errors import BadCheckpoint
from chronoforest.models import checkpoint


@pytest.fixture
def file(tmp_path):
    return write_ant_expert(tmp_path / "expert.safetensors")


def inputs(num=20):
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, num)
    return rng.normal(0, 3, (num, OBSERVATION_DIM - 2)), np.stack([np.cos(angle), np.sin(angle)], axis=1)


def test_the_folded_network_equals_the_trained_one(file):
    expert, sac = load_expert(file), make_sac(1)
    bodies, directions = inputs()
    observations = torch.tensor(np.concatenate([bodies, directions], axis=1), dtype=torch.float32)
    expected = sac.mean_actions(observations[None])[0].detach().numpy()
    actions = np.array([expert(body, way) for body, way in zip(bodies, directions, strict=True)])
    assert actions.shape == (20, ACTION_DIM)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(actions, expected, atol=1e-5)


def test_the_name_tells_experts_apart(tmp_path, file):
    again = write_ant_expert(tmp_path / "again.safetensors")
    other = write_ant_expert(tmp_path / "other.safetensors", seed=1)
    assert load_expert(file).name == load_expert(again).name != load_expert(other).name


def damaged(name, change):
    def damage(tensors):
        return {**tensors, name: change(tensors[name])}

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        damaged("weights.0", lambda w: w[:-2]),
        damaged("weights.1", lambda w: w[:-1]),
        damaged("shifts.0", lambda s: s[:-1]),
        damaged("biases.1", lambda b: b / 0.0),
        lambda tensors: {"log_table": tensors["biases.0"]},
        lambda tensors: {k: v for k, v in tensors.items() if k != "scales.1"},
    ],
)
def test_other_tensors_are_refused(file, damage):
    checkpoint.write(file, damage(load_file(file)), {"kind": KIND})
    with pytest.raises(BadCheckpoint):
        load_expert(file)
