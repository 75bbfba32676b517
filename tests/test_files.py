"""Files are complete or not there, whoever writes them and whatever happens."""

import json
import os
import subprocess
import sys
import time

import pytest

from chronoforest.errors import BadResult, CannotWrite, InUse
from chronoforest.files import append_line, drafted, locked, reading, write_text


def run(code, *words):
    """A process that runs some lines of Python."""
    return subprocess.Popen([sys.executable, "-c", code, *map(str, words)], stdout=subprocess.PIPE, text=True)


def test_a_file_is_written_with_the_permissions_of_any_other_and_nothing_beside_it(tmp_path):
    write_text(tmp_path / "new" / "a.txt", "α")
    (tmp_path / "other").write_text("")
    assert (tmp_path / "new" / "a.txt").read_text(encoding="utf-8") == "α"
    assert os.listdir(tmp_path / "new") == ["a.txt"]
    assert (tmp_path / "new" / "a.txt").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_link_stays_one(tmp_path):
    (tmp_path / "there").write_text("old")
    (tmp_path / "link").symlink_to("there")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there").read_text() == "new"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError()])
def test_a_failure_leaves_the_older_file_and_no_draft(tmp_path, error):
    write_text(tmp_path / "a.txt", "old")

    def fail():
        with drafted(tmp_path / "a.txt") as draft:
            draft.write_text("half")
            raise error

    with pytest.raises(CannotWrite if isinstance(error, OSError) else type(error)):
        fail()
    assert (tmp_path / "a.txt").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_what_is_no_file_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(CannotWrite, match="no file"):
            write_text(path, "")


def test_lines_are_appended_after_what_a_killed_process_left(tmp_path):
    path = tmp_path / "new" / "lines"
    append_line(path, "one")
    append_line(path, "two")
    with path.open("a") as file:
        file.write("thr")
    append_line(path, "three")
    assert path.read_text() == "one\ntwo\nthree\n"


def test_two_processes_save_one_plan_while_a_third_reads_and_no_read_is_broken(tmp_path):
    path = tmp_path / "plan.json"
    code = "import sys; from chronoforest.files import write_text\n" + (
        "for k in range(120): write_text(sys.argv[1], '[' + ', '.join([sys.argv[2]] * 20_000) + ']')"
    )
    write_text(path, "[0]")
    writers = [run(code, path, k) for k in (1, 2)]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        values = json.loads(path.read_text())
        assert len(set(values)) == 1
        seen.update(values)
    assert seen & {1, 2}
    assert [writer.wait() for writer in writers] == [0, 0]
    assert os.listdir(tmp_path) == ["plan.json"]


HOLD = """
import sys, time
from pathlib import Path
from chronoforest.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_second_process_is_told_who_holds_a_folder_or_a_file(tmp_path, is_folder):
    target = tmp_path if is_folder else tmp_path / "records.jsonl"
    holder = run(HOLD, target)
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(InUse, match=f"{target} is in use by process {holder.pid} on "), locked(target):
        pass
    holder.kill()
    holder.wait()
    with locked(target) as held:
        assert held == target
    assert os.listdir(tmp_path) == []


def test_a_lock_waits_for_nobody_who_let_go(tmp_path):
    for _ in range(3):
        with locked(tmp_path):
            began = time.monotonic()
    assert time.monotonic() - began < 5
    (tmp_path / "taken").write_text("")
    with pytest.raises(CannotWrite), locked(tmp_path / "taken" / "file"):
        pass


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (KeyError("order"), "x.json is damaged or not a plan: it lacks 'order'"),
        (RecursionError("too deep"), "too deep"),
        (FileNotFoundError(), "x.json: no such file"),
        (EOFError(), "EOFError"),
        (MemoryError("a\n b"), "a b"),
    ],
)
def test_whatever_a_damaged_file_raises_is_one_sentence(error, sentence):
    with pytest.raises(BadResult, match=sentence), reading("x.json", "a plan", BadResult):
        raise error
