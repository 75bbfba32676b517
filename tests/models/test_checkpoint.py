import json

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from chronoforest.errors import BadCheckpoint, CannotWrite
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


def test_writing_leaves_only_the_file(path):
    for seed in (0, 1):
        checkpoint.write(path, tensors(seed), CARD)
    assert list(path.parent.iterdir()) == [path]
    assert torch.equal(checkpoint.read(path, "density")[0]["a"], tensors(1)["a"])


def test_a_failed_rename_leaves_the_previous_file_untouched(path, monkeypatch):
    checkpoint.write(path, tensors(), CARD)
    before = path.read_bytes()

    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.replace", denied)
    with pytest.raises(CannotWrite, match="Permission denied"):
        checkpoint.write(path, tensors(1), CARD)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(CannotWrite, match=r"cannot write .*taken"):
        checkpoint.write(tmp_path / "taken" / "model.safetensors", tensors(), CARD)


def test_a_missing_checkpoint_says_what_writes_one(path):
    with pytest.raises(BadCheckpoint, match=r"no checkpoint at .*`chronoforest train` writes one"):
        checkpoint.read(path, "density")


def test_a_truncated_checkpoint_is_refused_wherever_it_ends(path):
    checkpoint.write(path, tensors(), CARD)
    whole = path.read_bytes()
    for length in (0, 4, 20, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(BadCheckpoint, match="damaged or not a checkpoint"):
            checkpoint.read(path, "density")


def test_a_file_of_something_else_is_refused(path):
    path.parent.mkdir()
    path.write_text("hello, this is no checkpoint at all")
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


def test_a_file_of_an_older_version_has_no_hash_and_loads(path):
    path.parent.mkdir()
    save_file(tensors(), path, metadata={"format": checkpoint.FORMAT, "about": json.dumps(CARD)})
    assert checkpoint.read(path, "density")[1] == CARD


def test_a_checkpoint_has_the_permissions_of_any_other_file(path, tmp_path):
    checkpoint.write(path, tensors(), CARD)
    (tmp_path / "other").write_text("")
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_model_of_another_kind_is_refused_by_name(path):
    checkpoint.write(path, tensors(), CARD)
    with pytest.raises(BadCheckpoint, match="holds a 'density', expected a 'tracker'"):
        checkpoint.read(path, "tracker")


def test_the_card_is_plain_json_in_the_files_header(path):
    checkpoint.write(path, tensors(), CARD)
    size = int.from_bytes(path.read_bytes()[:8], "little")
    header = json.loads(path.read_bytes()[8 : 8 + size])
    assert json.loads(header["__metadata__"]["about"]) == CARD


def test_compacting_halves_large_tensors_and_rounds_the_module_to_them():
    torch.manual_seed(0)
    module = nn.Linear(20, 20)
    before = module.weight.detach().clone()
    halves = checkpoint.compact(module)
    assert halves["weight"].dtype == torch.float16
    assert halves["bias"].dtype == torch.float32
    assert torch.equal(module.weight, halves["weight"].float())
    torch.testing.assert_close(module.weight, before, atol=1e-3, rtol=1e-3)


def test_filling_a_module_with_what_was_compacted_makes_it_equal(path):
    torch.manual_seed(0)
    module, other = nn.Linear(20, 20), nn.Linear(20, 20)
    checkpoint.fill(other, checkpoint.compact(module), path)
    assert torch.equal(module.weight, other.weight)
    assert other.weight.dtype == torch.float32


@pytest.mark.parametrize("stored", [nn.Linear(20, 10), nn.Linear(20, 20, bias=False)])
def test_tensors_that_do_not_fit_are_refused(stored, path):
    with pytest.raises(BadCheckpoint, match="does not fit the model it names"):
        checkpoint.fill(nn.Linear(20, 20), checkpoint.compact(stored), path)
