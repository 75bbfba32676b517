from importlib.metadata import version

import pytest

from chronoforest.engines import Done
from chronoforest.engines.cluster import Worker, packed, store_folder


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A folder with three files, on a machine that was sent nothing yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "weights"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (folder / name).write_text(name)
    return folder


def read(folder, places):
    here = places(folder)
    return here, sorted((path.name, path.read_text()) for path in here.iterdir())


def worker_for(folder, name, content, fetched):
    def fetch(held):
        fetched.append(name)
        return held

    return Worker(read, {folder: (name, content)}, fetch, version("chronoforest"))


def test_files_are_fetched_once_and_known_by_their_names_and_contents(weights, tmp_path):
    files = [weights / "b.txt", weights / "a.txt", weights / "missing.txt"]
    ((folder, name, content),) = packed(files)
    fetched = []
    for _ in range(2):
        done = worker_for(folder, name, content, fetched).do(weights)
        assert done == Done((store_folder() / name, [("a.txt", "a.txt"), ("b.txt", "b.txt")]))
    assert fetched == [name]
    copied = weights.rename(tmp_path / "copied")
    assert [found[1] for found in packed([copied / "a.txt", copied / "b.txt"])] == [name]
    (copied / "a.txt").write_text("other")
    assert [found[1] for found in packed([copied / "a.txt", copied / "b.txt"])] != [name]


def test_folders_that_were_not_sent_are_where_they_are_and_nothing_is_fetched(weights, tmp_path):
    fetched = []
    assert worker_for(tmp_path / "other", "x", {}, fetched).do(weights).result[0] == weights
    assert fetched == []


def test_a_fetch_that_fails_leaves_nothing_that_looks_whole(weights):
    ((folder, name, content),) = packed([weights / "a.txt"])

    def torn(held):
        raise ConnectionError

    with pytest.raises(ConnectionError):
        Worker(read, {folder: (name, content)}, torn, version("chronoforest")).do(weights)
    assert not (store_folder() / name).exists()
    assert worker_for(folder, name, content, []).do(weights).refusal is None


def test_a_machine_with_another_version_is_refused_by_both_numbers():
    refusal = Worker(print, {}, print, "9.9").do(0).refusal
    assert "9.9" in refusal
