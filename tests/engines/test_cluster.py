"""The Ray engine on a real cluster of two nodes, which are processes of this machine."""

import importlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from protocol_runs import make_cases
from shared_plans import load_fake, plan_or_be_lost
from shared_work import FATAL, are_gone, deadly, descendants, failing, refusing, where_it_is

from benchmarks.case import Case
from benchmarks.collect import stitch
from benchmarks.collect.expert import PointExpert
from benchmarks.experiments.protocol import PROTOCOL_SUITES
from benchmarks.run import read_trials, run_cases
from chronoforest.engines import Answer
from chronoforest.engines.cluster import RayEngine, packed
from chronoforest.errors import ChronoForestError, NoCluster
from chronoforest.peers.choice import PlannerChoice
from chronoforest.presets.named import get_preset

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'chronoforest[ray]'")

MEDIUM = "pointmaze-medium-stitch-v0"
CASES = make_cases(Case("pairs", PlannerChoice(MEDIUM)), 10)
FAKE = replace(PROTOCOL_SUITES["pairs"], load=load_fake)
LOSING = replace(FAKE, run=plan_or_be_lost)

QUICK = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 200,
    "health_check_failure_threshold": 5,
}
"""A dead node is noticed within a second or so; as delivered, Ray takes its time."""

MEMORY = 80 * 2**20


class Nodes:
    """A cluster that nodes are added to, each with a cache of its own, as on machines of their own."""

    def __init__(self, folder):
        from ray.cluster_utils import Cluster

        self.folder = folder
        arguments = {**self.arguments("head"), "include_dashboard": False, "_system_config": QUICK}
        self.cluster = Cluster(initialize_head=True, head_node_args={**arguments, "temp_dir": str(folder)})
        self.address = self.cluster.address

    def arguments(self, name, num_cpus=1):
        own = {"XDG_CACHE_HOME": str(self.folder / name), "PYTHONPATH": os.pathsep.join(sys.path)}
        return {"num_cpus": num_cpus, "object_store_memory": MEMORY, "env_vars": own}

    def add(self, name, num_cpus):
        return self.cluster.add_node(**self.arguments(name, num_cpus))

    def kill(self, node):
        self.cluster.remove_node(node, allow_graceful=False)

    def engine(self, **options):
        return RayEngine(self.address, **options)

    def sent_to(self, name):
        """Folders that were sent to a node."""
        store = self.folder / name / "chronoforest" / "sent"
        return [path.name for path in store.glob("*") if path.is_dir()]


@pytest.fixture(scope="module")
def nodes():
    folder = Path(tempfile.mkdtemp(prefix="cf", dir="/tmp"))  # a socket's path must be short
    # Whatever its temp_dir, Cluster writes its address into Ray's default folder, and does not make that one.
    (folder / "ray").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", str(folder))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        made = Nodes(folder)
        yield made
        made.cluster.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def second(nodes, request):
    """A second node with so many cores, for one test."""
    node = nodes.add("second", request.param)
    yield node
    if node in nodes.cluster.worker_nodes:
        nodes.kill(node)


@pytest.mark.parametrize("second", [1], indirect=True)
def test_a_run_on_two_nodes_that_is_stopped_and_loses_one_equals_a_local_run(nodes, second, tmp_path):
    local = run_cases(FAKE, CASES, tmp_path / "local")
    answered = signal.getsignal(signal.SIGTERM)

    def stop(num_done, num_all):
        if num_done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cases(FAKE, CASES, tmp_path / "shared", on_progress=stop, engine=nodes.engine(workers=1))
    assert len(read_trials(tmp_path / "shared" / FAKE.file)) == 2
    seen = []

    def lose(num_done, num_all):
        seen.append(num_done)
        if num_done == 3:
            nodes.kill(second)

    engine = nodes.engine(workers=2)
    shared = run_cases(LOSING, CASES, tmp_path / "shared", on_progress=lose, engine=engine)
    assert shared == local
    assert seen == list(range(3, 11))
    lines = (tmp_path / "shared" / FAKE.file).read_text().splitlines()
    assert sorted(lines) == sorted((tmp_path / "local" / FAKE.file).read_text().splitlines())
    assert signal.getsignal(signal.SIGTERM) == answered
    assert not ray.is_initialized()


def test_an_item_that_ends_its_worker_three_times_fails_and_the_others_do_not(nodes):
    found = sorted(nodes.engine().answers(deadly, range(4)), key=lambda answer: answer.index)
    failed = found.pop(FATAL)
    assert failed.failure.startswith("it ended its worker 3 times")
    assert failed.result is None
    assert found == [Answer(k, 2 * k) for k in range(4) if k != FATAL]


@pytest.mark.parametrize("second", [2], indirect=True)
def test_files_are_sent_to_every_node_once(nodes, second, tmp_path):
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "model.txt").write_text("weights of one's own")
    work = partial(where_it_is, str(folder))
    before = set(nodes.sent_to("head"))
    for _ in range(2):
        engine = nodes.engine(workers=3)
        found = [answer.result for answer in engine.answers(work, range(12), [folder / "model.txt"])]
        assert len(found) == 12
        assert {text for _, _, text in found} == {"weights of one's own"}
        assert len({process for process, _, _ in found}) == 3
        assert {path.parents[2].name for _, path, _ in found} == {"head", "second"}
    assert len(set(nodes.sent_to("head")) - before) == 1
    assert set(nodes.sent_to("head")) - before <= set(nodes.sent_to("second"))


def test_a_planner_is_loaded_from_weights_that_were_sent_and_plans_as_here(nodes, tmp_path):
    weights = tmp_path / "own"
    shutil.copytree(get_preset(MEDIUM).weights, weights)
    cases = make_cases(Case("pairs", PlannerChoice(MEDIUM, weights=weights), variant="verified"), 1)
    (here,), (there,) = (
        run_cases(PROTOCOL_SUITES["pairs"], cases, tmp_path / name, engine=engine)
        for name, engine in (("here", None), ("there", nodes.engine(workers=1)))
    )
    ((_, sent, _),) = packed(PlannerChoice(MEDIUM, weights=weights).files)
    assert sent in nodes.sent_to("head")
    assert replace(there.plan, seconds=0.0, first_seconds=0.0) == replace(
        here.plan, seconds=0.0, first_seconds=0.0
    )
    assert (there.origin, there.case) == (here.origin, here.case)


def test_a_dataset_recorded_on_other_machines_is_the_same_file(nodes, tmp_path, monkeypatch):
    pytest.importorskip("mujoco")
    monkeypatch.setattr(stitch, "CHUNK_EPISODES", 2)
    recipe = stitch.Recipe("pointmaze-medium-stitch-v0", "train", 4, 0, PointExpert())
    stitch.generate(recipe, tmp_path / "here.npz", workers=1)
    stitch.generate(recipe, tmp_path / "there.npz", engine=nodes.engine())
    assert (tmp_path / "here.npz").read_bytes() == (tmp_path / "there.npz").read_bytes()


def test_a_module_that_only_the_driver_has_goes_to_the_nodes(nodes, tmp_path, monkeypatch):
    package = tmp_path / "work_of_ones_own"
    package.mkdir()
    (package / "__init__.py").write_text("def tripled(item, places):\n    return 3 * item\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    work = importlib.import_module("work_of_ones_own").tripled
    engine = nodes.engine(workers=1, modules=("work_of_ones_own",))
    assert list(engine.answers(work, [1, 2])) == [Answer(0, 3), Answer(1, 6)]


def test_refusals_and_errors_of_the_work_end_it(nodes):
    with pytest.raises(ChronoForestError, match=r"item 0 is refused"):
        list(nodes.engine(workers=1).answers(refusing, range(2)))
    with pytest.raises(ZeroDivisionError, match="item 0"):
        list(nodes.engine(workers=1).answers(failing, range(2)))
    with pytest.raises(NoCluster, match=r"has 1 cores and 0 GPUs, a worker takes a core and 0.125 GPUs"):
        list(nodes.engine(gpus_per_worker=0.125).answers(refusing, range(2)))


def test_an_address_where_nobody_answers_is_refused_at_once():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}"):
        with pytest.raises(NoCluster, match=r"nothing answers at .*`ray start --head` on that machine"):
            list(RayEngine(address).answers(refusing, range(2)))
    with pytest.raises(NoCluster, match="no Ray cluster at nonsense"):
        list(RayEngine("nonsense").answers(refusing, range(2)))


STOPPED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a script
from contextlib import closing
from chronoforest.engines import Answer
from chronoforest.engines.cluster import RayEngine
from shared_work import napping
try:
    with closing(RayEngine(workers=2).answers(napping, [0.0, 60.0, 60.0])) as answers:
        for _ in answers:
            print("one", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_cluster_of_ones_own_in_silence():
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    pipe = subprocess.PIPE
    owner = subprocess.Popen(
        [sys.executable, "-c", STOPPED],
        env={**os.environ, "PYTHONPATH": path},
        stdout=pipe,
        stderr=pipe,
        text=True,
        start_new_session=True,
    )
    assert owner.stdout.readline() == "one\n"
    below = descendants(owner.pid)
    assert len(below) > 3
    os.killpg(owner.pid, signal.SIGINT)  # as a terminal does
    assert owner.communicate(timeout=30) == ("interrupted\n", "")
    assert are_gone(below)


def test_a_cluster_whose_head_is_lost_ends_the_work_in_one_sentence():
    """In a process of its own: Ray ends a driver that it thinks lost."""
    from ray._private.ray_constants import PROCESS_TYPE_GCS_SERVER

    folder = Path(tempfile.mkdtemp(prefix="cf", dir="/tmp"))
    (folder / "ray").mkdir()
    path = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", str(folder))
        patch.setenv("PYTHONPATH", path)
        other = Nodes(folder)
        pipe = subprocess.PIPE
        owner = subprocess.Popen(
            [sys.executable, "-c", BEHEADED, other.address], stdout=pipe, stderr=pipe, text=True
        )
        try:
            assert owner.stdout.readline() == "one\n"
            other.cluster.head_node.all_processes[PROCESS_TYPE_GCS_SERVER][0].process.kill()
            assert owner.communicate(timeout=60) == ("NoCluster\n", "")
        finally:
            owner.kill()
            other.cluster.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


BEHEADED = """
import sys
from contextlib import closing
from chronoforest.engines.cluster import RayEngine
from chronoforest.errors import NoCluster
from shared_work import napping
try:
    with closing(RayEngine(sys.argv[1], workers=1).answers(napping, [0.0, 300.0])) as answers:
        for _ in answers:
            print("one", flush=True)
except NoCluster as error:
    print(type(error).__name__, flush=True)
"""
