import json

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from chronoforest.errors import BadCheckpoint
from chronoforest.models import checkpoint

CARD = {"kind": "density", "preset": "here", "figures": {"share": 0.5}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "weights" / "model.safetensors"


def tensors(seed=0):
    torch.manual_seed(seed)
    return {"a": torch.randn(3, 4), "b": torch.arange(5), "c": torch.tensor([True, False])}


def test_what_is_written_is_read_back_exactly(path):
    checkpoint.write(path, tensors(), CARD)
    found, about = checkpoint.read(path, "density")
    assert about == CARD
    assert found.keys() == tensors().keys()
    for name, tensor in tensors().items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor)


def test_a_truncated_checkpoint_is_refused_wherever_it_ends(path):
    checkpoint.write(path, tensors(), CARD)
    whole = path.read_bytes()
    for length in (0, 4, 20, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(BadCheckpoint, match="damaged or not a checkpoint"):
            checkpoint.read(path, "density")


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}, {"format": "chronoforest/99"}])
def test_tensors_of_another_program_or_version_are_refused(path, metadata):
    path.parent.mkdir()
    save_file(tensors(), path, metadata=metadata)
    with pytest.raises(BadCheckpoint, match="expected 'chronoforest/1'"):
        checkpoint.read(path, "density")


@pytest.mark.parametrize("about", [{}, {"about": "{"}, {"about": "[]"}])
def test_a_card_that_cannot_be_read_is_refused(path, about):
    path.parent.mkdir()
    save_file(tensors(), path, metadata={"format": checkpoint.FORMAT, **about})
    with pytest.raises(BadCheckpoint, match=r"model\.safetensors"):
        checkpoint.read(path, "density")


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_weights_that_are_not_finite_are_refused(path, value):
    checkpoint.write(path, {"a": torch.tensor([0.0, value])}, CARD)
    with pytest.raises(BadCheckpoint, match="a holds NaN or infinity"):
        checkpoint.read(path, "density")


def test_a_changed_bit_is_noticed_where_the_file_carries_its_hash(path):
    checkpoint.write(path, tensors(), CARD)
    content = bytearray(path.read_bytes())
    content[-10] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadCheckpoint, match="not those that were written"):
        checkpoint.read(path, "density")


def test_weights_of_an_earlier_version_without_a_hash_are_refused_and_not_called_damaged(path):
    path.parent.mkdir(parents=True)
    save_file(tensors(), path, metadata={"format": checkpoint.FORMAT, "about": json.dumps(CARD)})
    with pytest.raises(BadCheckpoint, match="earlier version"):
        checkpoint.read(path, "density")


def test_a_model_of_another_kind_is_refused_by_name(path):
    checkpoint.write(path, tensors(), CARD)
    with pytest.raises(BadCheckpoint, match="holds a 'density', expected a 'tracker'"):
        checkpoint.read(path, "tracker")


def test_compacting_stores_matrices_in_eight_bits_and_rounds_the_module_to_them(path):
    torch.manual_seed(0)
    module = nn.Linear(64, 128)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    checkpoint.write(path, checkpoint.compact(module), CARD)
    assert path.stat().st_size < 64 * 128 * 1.2 + 1000
    for name, value in checkpoint.read(path, "density")[0].items():
        torch.testing.assert_close(value.float(), module.state_dict()[name], rtol=0, atol=0)
        torch.testing.assert_close(value.float(), before[name], rtol=0, atol=0.125 / 127)
    assert checkpoint.compact(module)["weight"].dtype == torch.int8


def test_a_network_is_filled_with_what_was_compacted(path):
    torch.manual_seed(0)
    module = nn.Linear(40, 40)
    checkpoint.write(path, checkpoint.compact(module), CARD)
    arrays = checkpoint.read_arrays(path, "density")[0]
    other, again = checkpoint.filled(lambda: nn.Linear(40, 40), arrays), nn.Linear(40, 40)
    checkpoint.fill(again, arrays)
    for found in (other, again):
        assert torch.equal(module.weight, found.weight)
        assert found.bias.dtype == torch.float32


@pytest.mark.parametrize("stored", [nn.Linear(20, 10), nn.Linear(20, 20, bias=False)])
def test_tensors_that_do_not_fit_are_refused(stored):
    arrays = {name: value.numpy() for name, value in stored.state_dict().items()}
    with pytest.raises(RuntimeError, match=r"size mismatch|Missing key"):
        checkpoint.fill(nn.Linear(20, 20), arrays)
