import os
import signal
import subprocess
import sys
from functools import partial

import pytest
from shared_work import (
    FATAL,
    are_gone,
    deadly,
    descendants,
    doubled,
    failing,
    once_deadly,
    refusing,
    with_token,
)

from chronoforest.engines import Answer
from chronoforest.engines.local import LocalEngine
from chronoforest.errors import ChronoForestError, InvalidParameter, InvalidProblem


def by_index(answers):
    return sorted(answers, key=lambda answer: answer.index)


def test_one_worker_is_this_process_and_keeps_the_order():
    found = list(LocalEngine().answers(lambda item, places: (item, os.getpid()), "abc"))
    assert found == [Answer(k, (letter, os.getpid())) for k, letter in enumerate("abc")]


def test_workers_answer_every_item_once_and_keep_what_they_loaded():
    assert by_index(LocalEngine(2).answers(doubled, range(7))) == [Answer(k, 2 * k) for k in range(7)]
    tokens = {answer.result for answer in LocalEngine(2).answers(with_token, range(8))}
    assert len(tokens) <= 2


def test_an_item_that_ends_its_worker_three_times_fails_and_the_others_do_not():
    found = by_index(LocalEngine(2).answers(deadly, range(5)))
    failed = found.pop(FATAL)
    assert failed.result is None
    assert failed.failure == ("it ended its worker 3 times; the last time its process ended with SIGKILL")
    assert found == [Answer(k, 2 * k) for k in range(5) if k != FATAL]


def test_an_item_whose_worker_died_once_is_done_again(tmp_path, caplog):
    work = partial(once_deadly, str(tmp_path))
    assert by_index(LocalEngine(2).answers(work, range(5))) == [Answer(k, 2 * k) for k in range(5)]
    assert "its item is done again: its process ended with exit code 7" in caplog.text


def test_refusals_and_errors_end_the_work_where_answers_are_read():
    with pytest.raises(InvalidProblem, match="item 0 is refused"):
        list(LocalEngine(1).answers(refusing, range(3)))
    with pytest.raises(ChronoForestError, match=r"item \d is refused"):
        list(LocalEngine(2).answers(refusing, range(3)))
    with pytest.raises(ZeroDivisionError, match=r"item \d"):
        list(LocalEngine(2).answers(failing, range(3)))


def test_workers_use_one_thread_and_this_process_keeps_its_own(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    assert {answer.result for answer in LocalEngine(2).answers(num_threads, range(2))} == {"1"}
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in os.environ


def num_threads(item, places):
    return os.environ["OMP_NUM_THREADS"]


def test_fewer_than_one_worker_is_refused():
    with pytest.raises(InvalidParameter, match="workers must be at least 1, got 0"):
        LocalEngine(0)


SHARED = """
import time, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a script
from contextlib import closing
from chronoforest.engines.local import LocalEngine
from chronoforest.processes import handled, interrupt
from shared_work import napping
try:
    shared = LocalEngine(2).answers(napping, [0.0, 60.0, 60.0])
    with handled(interrupt, signal.SIGTERM), closing(shared):
        for _ in shared:
            print("one", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_shared_work_ends_in_silence_whatever_ends_its_owner(number):
    pipe = subprocess.PIPE
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    options = {"stdout": pipe, "stderr": pipe, "text": True, "start_new_session": True}
    owner = subprocess.Popen(
        [sys.executable, "-c", SHARED], env={**os.environ, "PYTHONPATH": path}, **options
    )
    assert owner.stdout.readline() == "one\n"
    workers = descendants(owner.pid)
    if number == signal.SIGINT:
        os.killpg(owner.pid, number)  # as a terminal does
    else:
        owner.send_signal(number)
    printed, errors = owner.communicate(timeout=20)
    if number != signal.SIGKILL:
        assert (printed, errors) == ("interrupted\n", "")
    assert len(workers) >= 2
    assert are_gone(workers)
