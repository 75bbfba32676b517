import json

import numpy as np
import pytest
from tiny_ant import write_ant_expert

from benchmarks.collect import stitch
from benchmarks.collect.expert import PointExpert, expert_for
from benchmarks.collect.stitch import Recipe, generate, oracle, record_episode
from benchmarks.mazes import maze
from chronoforest.data.episodes import load
from chronoforest.envs.maps import MAPS
from chronoforest.envs.tasks import make_env, seeded_reset
from chronoforest.errors import BadCheckpoint, CannotWrite, InvalidParameter

GIANT = "pointmaze-giant-stitch-v0"
TELEPORT = "pointmaze-teleport-stitch-v0"


def recipe(name=TELEPORT, num_episodes=7, split="train", seed=0):
    return Recipe(name, split, num_episodes, seed, PointExpert())


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(stitch, "CHUNK_EPISODES", 2)


@pytest.fixture(scope="module")
def env():
    return make_env(TELEPORT, max_episode_steps=201, terminate_at_goal=False)


@pytest.mark.parametrize("name", MAPS)
def test_the_oracle_table_equals_the_environments_own_search(name):
    env = make_env(f"pointmaze-{name}-stitch-v0").unwrapped
    table, rng = oracle(maze(name)).next_cell, np.random.default_rng(0)
    cells = [(i, j) for i in range(table.shape[0]) for j in range(table.shape[1])]
    goals = [tuple(goal) for goal in maze(name).free_cells]
    for k in rng.choice(len(goals), 12, replace=False):
        for cell in cells:
            subgoal, _ = env.get_oracle_subgoal(env.ij_to_xy(cell), env.ij_to_xy(goals[k]))
            assert tuple(subgoal) == env.ij_to_xy(table[cell + goals[k]])


def test_an_episode_is_what_the_wrapped_environment_gives(env):
    """The protocol of OGBench's script, step by step, with its own oracle, jumps included."""
    num_jumps = 0
    for episode in range(8):
        recorded = record_episode(env, recipe(), episode)
        expected = by_the_book(env, recipe(), episode)
        for key, array in recorded.items():
            np.testing.assert_array_equal(array, expected[key])
            assert array.dtype == (bool if key == "terminals" else np.float32)
        num_jumps += (np.linalg.norm(np.diff(recorded["observations"], axis=0), axis=1) > 1.5).sum()
    assert num_jumps > 0


def by_the_book(env, recipe, episode):
    rng, seed = recipe.streams(episode)
    cells = [tuple(cell) for cell in np.argwhere(env.unwrapped.maze_map == 0)]
    start = cells[rng.integers(len(cells))]
    goals = [cell for cell in cells if maze("teleport").bfs(start)[cell] == 4] or [start]
    goal = goals[rng.integers(len(goals))]
    first = seeded_reset(env, seed, {"task_info": {"init_ij": start, "goal_ij": goal}})
    observation = first.observation
    noise, rows, inner, is_done = rng.normal(0, 0.5, (201, 2)), [], env.unwrapped, False
    while not is_done:
        direction = inner.get_oracle_subgoal(inner.get_xy(), inner.cur_goal_xy)[0] - inner.get_xy()
        direction = direction / (np.linalg.norm(direction) + 1e-6)
        action = np.clip(direction + noise[len(rows)], -1, 1)
        following, _, is_terminated, is_truncated, info = env.step(action)
        is_done = is_terminated or is_truncated
        rows.append((observation, action, info["prev_qpos"], info["prev_qvel"], is_done))
        observation = following
    keys = ("observations", "actions", "qpos", "qvel", "terminals")
    columns = dict(zip(keys, zip(*rows, strict=True), strict=True))
    columns["goals"] = (first.goal,)
    return {key: np.array(rows, bool if key == "terminals" else np.float32) for key, rows in columns.items()}


def test_one_and_two_workers_write_the_same_file(tmp_path, small_chunks):
    files = [tmp_path / f"{workers}.npz" for workers in (1, 2)]
    for workers, file in zip((1, 2), files, strict=True):
        assert generate(recipe(), file, workers)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert sorted(tmp_path.iterdir()) == files


def test_an_interrupted_generation_continues_to_the_same_file(tmp_path, small_chunks, monkeypatch):
    whole, resumed = tmp_path / "whole.npz", tmp_path / "resumed.npz"
    generate(recipe(), whole, workers=1)

    def interrupt(done, total):
        if done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(recipe(), resumed, workers=1, on_progress=interrupt)
    parts = sorted((tmp_path / "resumed.npz.parts").iterdir())
    assert len(parts) >= 2
    assert not resumed.exists()
    parts[0].write_bytes(parts[0].read_bytes()[:100])
    seen = []
    assert generate(recipe(), resumed, workers=1, on_progress=lambda done, total: seen.append((done, total)))
    assert seen[0][0] >= 2
    assert seen[-1] == (7, 7)
    assert resumed.read_bytes() == whole.read_bytes()
    assert not parts[0].parent.exists()


def test_a_file_says_how_it_was_made_and_is_not_made_twice(tmp_path):
    out = tmp_path / "set.npz"
    generate(recipe(num_episodes=2), out, workers=1)
    episodes = load(out)
    assert episodes.observations.shape == (2, 201, 2)
    assert episodes.actions.shape == (2, 201, 2)
    assert episodes.metadata == json.loads(json.dumps(recipe(num_episodes=2).metadata()))
    assert episodes.metadata["generator"] == "chronoforest data generate"
    before = out.stat().st_mtime_ns
    assert not generate(recipe(num_episodes=2), out, workers=1)
    with pytest.raises(CannotWrite, match="exists and was made otherwise"):
        generate(recipe(num_episodes=2, seed=1), out, workers=1)
    assert out.stat().st_mtime_ns == before


def test_bad_recipes_are_refused_before_any_work(tmp_path):
    with pytest.raises(InvalidParameter, match="episodes, got 0"):
        recipe(num_episodes=0)
    with pytest.raises(InvalidParameter, match="got -1"):
        recipe(seed=-1)
    with pytest.raises(InvalidParameter, match="'test'"):
        recipe(split="test")
    with pytest.raises(InvalidParameter, match="workers must be at least 1, got 0"):
        generate(recipe(), tmp_path / "set.npz", workers=0)


def test_every_body_has_its_expert_and_the_point_needs_no_file(tmp_path):
    assert expert_for(GIANT) == PointExpert()
    with pytest.raises(InvalidParameter, match="the point's expert is not learned"):
        expert_for(GIANT, tmp_path / "expert.safetensors")
    with pytest.raises(BadCheckpoint, match="`python -m benchmarks expert` trains one"):
        expert_for("antmaze-giant-stitch-v0", tmp_path / "expert.safetensors")


def test_files_of_different_experts_are_never_mixed(tmp_path):
    def made_by(file):
        return Recipe("antmaze-giant-stitch-v0", "train", 2, 0, expert_for("antmaze-giant-stitch-v0", file))

    one, other = (made_by(write_ant_expert(tmp_path / f"{k}.safetensors", seed=k)) for k in (0, 1))
    assert one.metadata() == made_by(tmp_path / "0.safetensors").metadata()
    assert one.metadata() != other.metadata()
    chunks = [{chunk.path for chunk in stitch._chunks(recipe, tmp_path)} for recipe in (one, other)]
    assert not chunks[0] & chunks[1]
