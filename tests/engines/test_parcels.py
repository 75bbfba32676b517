from pathlib import Path

import pytest

from chronoforest.engines import parcels
from chronoforest.engines.desk import Desk
from chronoforest.engines.parcels import Parcel, packed, store_folder, unpacked
from chronoforest.engines.protocol import Done


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """A folder with two files and one that is not asked for, on a machine that was sent nothing yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "weights"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (folder / name).write_text(name)
    return folder


def files_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_are_fetched_once_and_known_by_their_content(weights, tmp_path):
    (parcel,) = packed([weights / "b.txt", weights / "a.txt", weights / "missing.txt"])
    folder, is_new = unpacked(parcel, parcel.contents)
    assert (is_new, files_in(folder)) == (True, ["a.txt", "b.txt"])
    assert folder == store_folder() / parcel.digest

    def refuse():
        raise AssertionError("fetched again")

    assert unpacked(parcel, refuse) == (folder, False)
    copied = tmp_path / "copied"
    weights.rename(copied)
    (same,) = packed([copied / "a.txt", copied / "b.txt"])
    assert unpacked(same, refuse) == (folder, False)
    (copied / "a.txt").write_text("other")
    (other,) = packed([copied / "a.txt", copied / "b.txt"])
    assert unpacked(other, other.contents) == (store_folder() / other.digest, True)
    assert other.digest != parcel.digest


def test_a_fetch_that_fails_leaves_nothing_that_looks_whole(weights):
    (parcel,) = packed([weights / "a.txt"])

    def torn():
        raise ConnectionError

    with pytest.raises(ConnectionError):
        unpacked(parcel, torn)
    assert [path.name for path in store_folder().iterdir()] == [f"{parcel.digest}.lock"]
    assert unpacked(parcel, parcel.contents)[1]


def test_what_the_package_has_is_not_sent_unless_it_is_another_version(weights, monkeypatch):
    monkeypatch.setattr(parcels, "PACKAGE", weights.parent)
    parcel = Parcel.of(weights, ["a.txt"])
    assert parcel.inside == Path("weights")
    elsewhere = weights.parent / "node"
    elsewhere.mkdir()
    weights.rename(elsewhere / "weights")
    monkeypatch.setattr(parcels, "PACKAGE", elsewhere)
    assert unpacked(parcel, dict) == (elsewhere / "weights", False)
    (elsewhere / "weights" / "a.txt").write_text("of another version")
    assert unpacked(parcel, lambda: {"a.txt": b"a.txt"})[0] == store_folder() / parcel.digest


def test_a_desk_tells_what_it_received_and_asks_for_no_more_than_it_needs(weights):
    (parcel,) = packed([weights / "a.txt"])
    fetched = []

    def fetch(content):
        fetched.append(content)
        return parcel.contents()

    def read(item, places):
        return (places(weights if item else Path("elsewhere")) / "a.txt").exists()

    desk = Desk(read, {weights: (parcel, "its content")}, fetch, "0")
    assert desk.do(0) == Done(False)
    assert fetched == []
    done = desk.do(1)
    assert done.result
    assert done.received == (f"{weights} ({parcel.digest}) was sent to {store_folder() / parcel.digest}",)
    assert desk.do(1) == Done(True)
    assert fetched == ["its content"]


def test_a_machine_with_another_version_is_refused_with_what_to_do():
    refusal = Desk(print, {}, print, "9.9").ready().refusal
    assert "the driver 9.9; `pip install chronoforest==9.9` there" in refusal
