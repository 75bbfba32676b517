"""Work ends when it should: at a good moment, with its parent, and with one line."""

import os
import signal
import subprocess
import sys
import time

import pytest

from chronoforest.processes import handled, held_signals, interrupt


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_held_signal_takes_effect_when_it_is_let_through(number):
    done = []

    def work():
        with held_signals() as let_through:
            os.kill(os.getpid(), number)
            done.append("step")
            let_through()
            done.append("never")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["step"]


def test_a_held_signal_takes_effect_at_the_end_at_the_latest():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), held_signals():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before


def test_sigterm_can_be_like_ctrl_c():
    with pytest.raises(KeyboardInterrupt), handled(interrupt, signal.SIGTERM):
        os.kill(os.getpid(), signal.SIGTERM)


PARENT = """
import os, subprocess, sys, time
from chronoforest.processes import deaf_children
code = '''
import os, time
from chronoforest.processes import end_with
end_with(%d)
print(os.getpid(), flush=True)
time.sleep(60)
'''
with deaf_children():
    child = subprocess.Popen([sys.executable, "-c", code % os.getpid()])
time.sleep(60)
"""


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().split(") ")[1][0] != "Z"
    except FileNotFoundError:
        return False


def test_a_worker_hears_no_ctrl_c_and_ends_with_its_parent():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    os.kill(child, signal.SIGINT)
    time.sleep(0.2)
    assert is_alive(child)
    parent.kill()
    parent.wait()
    ends_at = time.monotonic() + 10
    while is_alive(child) and time.monotonic() < ends_at:
        time.sleep(0.05)
    assert not is_alive(child)


STOPPED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a script
from chronoforest import cli
def wait():
    print("waits", flush=True)
    time.sleep(60)
sys.modules["waiting"] = type(sys)("waiting")
sys.modules["waiting"].wait = wait
cli.VERBS["wait"] = cli.Verb("waiting:wait", "waits")
sys.exit(cli.main(["wait"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_verb_prints_one_line(number):
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", STOPPED], stdout=pipe, stderr=pipe, text=True)
    assert process.stdout.readline() == "waits\n"
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert errors == "chronoforest: interrupted; what was saved so far is kept\n"
    assert process.returncode == 130
