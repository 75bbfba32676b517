import subprocess
import sys

import pytest

from chronoforest import names
from chronoforest.engines import EngineChoice
from chronoforest.engines.cluster import RayEngine
from chronoforest.engines.local import LocalEngine
from chronoforest.errors import InvalidParameter, MissingExtra


def test_an_engine_is_this_machine_unless_told():
    assert EngineChoice().make() == LocalEngine(1)
    assert EngineChoice(3).make(("benchmarks",)) == LocalEngine(3)
    chosen = EngineChoice(None, "ray", "auto", 0.125)
    assert chosen.make(("benchmarks",)) == RayEngine("auto", None, 0.125, ("benchmarks",))
    assert [EngineChoice().is_plain, chosen.is_plain] == [True, False]


@pytest.mark.parametrize(
    ("choice", "device", "sentence"),
    [
        (EngineChoice(workers=0), "cpu", "workers must be at least 1, got 0"),
        (EngineChoice(address="auto"), "cpu", "add --engine ray"),
        (EngineChoice(gpus_per_worker=0.5), "cuda", "add --engine ray"),
        (EngineChoice(engine="ray", gpus_per_worker=1.5), "cuda", "share of one such as 0.125.*got 1.5"),
        (EngineChoice(engine="ray"), "cuda", "needs --gpus-per-worker"),
    ],
)
def test_what_cannot_be_run_is_refused_with_what_would_work(choice, device, sentence, monkeypatch):
    monkeypatch.setattr(names, "find_spec", lambda name: name)
    with pytest.raises(InvalidParameter, match=sentence):
        choice.check(device)


def test_without_ray_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(names, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"needs ray; install it with `pip install 'chronoforest\[ray\]'`"):
        EngineChoice(engine="ray").check()
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match="needs ray"):
        list(RayEngine().answers(print, [1]))
    EngineChoice().check()


def test_ray_is_imported_by_nobody_who_did_not_ask_for_it():
    code = "import sys, benchmarks.run, chronoforest.engines.cluster; print('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
