from dataclasses import replace

import numpy as np
import pytest
from fake_ants import gliding_ants
from fake_planner import FakePlanner

from chronoforest.errors import CannotWrite, InvalidParameter
from chronoforest.execution.journey import walk_problem
from chronoforest.report import drawing, video
from chronoforest.report.maps import draw_map, draw_rollouts
from chronoforest.report.video import ANT_VIDEO, VideoParams, caption, draw_video, map_frames, shown_steps
from chronoforest.types import Problem

SMALL = VideoParams(width=321, closeup=120, max_frames=12, hold=3)


@pytest.fixture(scope="module")
def walked():
    problem = Problem([[0, 0], [0, 20]], [[20, 20], [20, 0]], [[4, 4], [16, 12]])
    journey = walk_problem(FakePlanner("pointmaze-medium-stitch-v0"), problem)
    return journey.result, journey.rollouts


def read(path):
    import imageio_ffmpeg

    reader = imageio_ffmpeg.read_frames(str(path))
    meta = next(reader)
    width, height = meta["size"]
    return meta, [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]


def test_a_video_has_its_frames_and_an_even_size(walked, tmp_path):
    result, rollouts = walked
    told = []
    view = draw_video(
        tmp_path / "new" / "walk.mp4", result, rollouts, "two agents", SMALL, lambda *done: told.append(done)
    )
    assert view == "agents drawn from above"
    meta, shown = read(tmp_path / "new" / "walk.mp4")
    assert meta["codec"] == "h264"
    assert meta["pix_fmt"].startswith("yuv420p")
    assert meta["size"][0] == 320
    assert all(size % 2 == 0 for size in meta["size"])
    assert SMALL.hold < len(shown) <= SMALL.max_frames + SMALL.hold + 2
    assert told[-1] == (len(shown) - SMALL.hold, len(shown) - SMALL.hold)
    assert np.abs(shown[0].astype(int) - shown[-1]).max() > 100
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["walk.mp4"]


def test_agents_are_drawn_where_they_are(walked):
    """The pixel under an agent has its colour, at the beginning and at the end."""
    result, rollouts = walked
    ground = draw_map(result, rollouts, "", SMALL.width)
    shown = list(map_frames(ground, rollouts, shown_steps(rollouts, SMALL)))
    for agent, rollout in enumerate(rollouts):
        colour = [int(drawing.agent_colour(agent)[k : k + 2], 16) for k in (1, 3, 5)]
        for picture, place in ((shown[0], rollout.xy[0]), (shown[-1], rollout.xy[-1])):
            column, row = np.round(ground.pixel(place)).astype(int)
            np.testing.assert_allclose(picture[row, column], colour, atol=1)


def test_the_picture_matches_the_world(walked):
    """Free cells are pale and walls dark at the pixels where the ground says they are."""
    result, _ = walked
    ground = draw_map(result, [], "", VideoParams().width)
    for place, is_free in (([8.0, 0.0], False), ([-4.0, -4.0], False), ([8.0, 9.0], True)):
        column, row = np.round(ground.pixel(np.array(place))).astype(int)
        assert (ground.canvas[row, column].mean() > 128) == is_free


def test_ants_get_a_framed_close_up_each_beside_the_map(tmp_path, monkeypatch):
    """Frame and caption have the agent's colour."""

    def grey(request, library):
        for _ in request.steps:
            yield [np.full((*request.shape, 3), 90, dtype=np.uint8)] * request.num_shown

    monkeypatch.setattr(video, "closeups", grey)
    monkeypatch.setenv("MUJOCO_GL", "egl")
    result, rollouts = gliding_ants()
    assert "egl" in draw_video(tmp_path / "walk.mp4", result, rollouts, "two ants", SMALL)
    meta, shown = read(tmp_path / "walk.mp4")
    assert meta["size"][0] == 320 + SMALL.closeup
    height = meta["size"][1] // 2
    for agent in range(2):
        frame = shown[-1][(agent + 1) * height - 2, 320 + 10 : -10]
        colour = [int(drawing.agent_colour(agent)[k : k + 2], 16) for k in (1, 3, 5)]
        np.testing.assert_allclose(np.median(frame, axis=0), colour, atol=12)


def test_where_nothing_renders_the_video_has_the_map_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "none-of-them")
    result, rollouts = gliding_ants()
    assert "none-of-them: " in draw_video(tmp_path / "walk.mp4", result, rollouts, "two ants", SMALL)
    assert read(tmp_path / "walk.mp4")[0]["size"][0] == 320


def test_captions_say_where_an_agent_goes_and_how_it_ended():
    result, (rollout, _) = gliding_ants()
    steps = (0, rollout.visit_steps[0], rollout.steps)
    said = [caption(rollout, 0, result.problem, step) for step in steps]
    order = result.routes[0].order
    assert said == [f"agent 1 → {order[1]}", f"agent 1 → {order[2]}", "agent 1: arrived"]
    fallen = replace(rollout, cause="out of steps")
    assert caption(fallen, 0, result.problem, rollout.steps) == "agent 1: out of steps"


def test_shown_steps_are_even_and_end_with_the_walk():
    _, rollouts = gliding_ants()
    steps = shown_steps(rollouts, VideoParams(max_frames=10))
    assert steps[0] == 0
    assert steps[-1] == max(rollout.steps for rollout in rollouts)
    assert len(set(np.diff(steps[:-1]))) == 1
    assert len(steps) <= 11
    assert ANT_VIDEO.max_frames * 2 >= 600


def test_rollouts_are_drawn_over_their_plans(walked, tmp_path):
    result, rollouts = walked
    draw_rollouts(tmp_path / "walk.png", result.support, result.problem, rollouts, "two agents")
    assert (tmp_path / "walk.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_and_videos_say_why_they_cannot_be_written(walked, tmp_path):
    result, rollouts = walked
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match="cannot write"):
        draw_rollouts(tmp_path / "file" / "walk.png", result.support, result.problem, rollouts)
    with pytest.raises(CannotWrite, match="cannot write"):
        draw_video(tmp_path / "file" / "walk.mp4", result, rollouts)
    with pytest.raises(InvalidParameter, match="width must be at least 64, got 10"):
        VideoParams(width=10)
    with pytest.raises(InvalidParameter, match="closeup must be even, got 101"):
        VideoParams(closeup=101)
