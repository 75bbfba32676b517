import numpy as np
import pytest

from chronoforest.envs import tasks as module
from chronoforest.envs.tasks import fetch
from chronoforest.errors import FetchFailed, UnknownEnvironment

NAME = "pointmaze-giant-stitch-v0"


@pytest.fixture
def no_network(monkeypatch):
    monkeypatch.setattr("ogbench.utils.DATASET_URL", "http://127.0.0.1:9/ogbench")


def test_without_a_network_it_fails_at_once_and_names_generate(tmp_path, no_network):
    with pytest.raises(FetchFailed, match=f"`python -m benchmarks generate {NAME}`"):
        fetch(NAME, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_breaks_off_names_generate_too(tmp_path, monkeypatch):
    def break_off(names, folder):
        raise ConnectionResetError("reset by peer")

    monkeypatch.setattr(module, "_can_reach", lambda url: True)
    monkeypatch.setattr("ogbench.download_datasets", break_off)
    with pytest.raises(FetchFailed, match=r"broke off \(reset by peer\).*benchmarks generate"):
        fetch(NAME, tmp_path)


def test_downloaded_files_are_checked_and_returned(tmp_path, monkeypatch):
    def download(names, folder):
        for name in (NAME, f"{NAME}-val"):
            rows = np.zeros((6, 2), np.float32)
            np.savez(f"{folder}/{name}.npz", observations=rows, actions=rows, terminals=np.arange(6) % 3 == 2)

    monkeypatch.setattr(module, "_can_reach", lambda url: True)
    monkeypatch.setattr("ogbench.download_datasets", download)
    paths = fetch(NAME, tmp_path)
    assert [path.name for path in paths] == [f"{NAME}.npz", f"{NAME}-val.npz"]
    monkeypatch.setattr(module, "_can_reach", lambda url: pytest.fail("asked the network again"))
    assert fetch(NAME, tmp_path) == paths


def test_an_unknown_name_is_refused_before_the_network(tmp_path):
    with pytest.raises(UnknownEnvironment):
        fetch("pointmaze-tiny-stitch-v0", tmp_path)
