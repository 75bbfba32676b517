import numpy as np
import pytest
from fake_planner import FakePlanner

from chronoforest import pictures
from chronoforest.errors import CannotWrite, InvalidParameter
from chronoforest.execution.outing import walk_problem
from chronoforest.report.plots import draw_rollouts, without_jumps
from chronoforest.report.video import VideoParams, draw_scene, draw_video, frames, stamp
from chronoforest.types import Problem

SMALL = VideoParams(width=321, max_frames=12, hold=3)


@pytest.fixture(scope="module")
def walked():
    problem = Problem([[0, 0], [0, 20]], [[20, 20], [20, 0]], [[4, 4], [16, 12]])
    outing = walk_problem(FakePlanner("pointmaze-medium-stitch-v0"), problem)
    return outing.result, outing.rollouts


def read(path):
    import imageio_ffmpeg

    reader = imageio_ffmpeg.read_frames(str(path))
    meta = next(reader)
    width, height = meta["size"]
    return meta, [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]


def test_a_video_has_its_frames_and_an_even_size(walked, tmp_path):
    result, rollouts = walked
    draw_video(tmp_path / "new" / "walk.mp4", result.support, result.problem, rollouts, "two agents", SMALL)
    meta, shown = read(tmp_path / "new" / "walk.mp4")
    assert meta["codec"] == "h264"
    assert meta["pix_fmt"].startswith("yuv420p")
    assert meta["size"][0] == 320
    assert all(size % 2 == 0 for size in meta["size"])
    assert SMALL.hold < len(shown) <= SMALL.max_frames + SMALL.hold + 2
    assert np.abs(shown[0].astype(int) - shown[-1]).max() > 100
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["walk.mp4"]


def test_agents_are_drawn_where_they_are(walked):
    """The pixel under an agent has its colour, at the beginning and at the end."""
    result, rollouts = walked
    scene = draw_scene(result.support, result.problem, rollouts, "", SMALL)
    shown = list(frames(scene, rollouts, SMALL))
    for agent, rollout in enumerate(rollouts):
        colour = [int(pictures.agent_colour(agent)[k : k + 2], 16) for k in (1, 3, 5)]
        for picture, place in ((shown[0], rollout.xy[0]), (shown[-1], rollout.xy[-1])):
            column, row = np.round(scene.pixel(place)).astype(int)
            np.testing.assert_allclose(picture[row, column], colour, atol=1)


def test_the_picture_matches_the_world(walked):
    """Free cells are pale and walls dark at the pixels where the scene says they are."""
    result, _ = walked
    scene = draw_scene(result.support, result.problem, [], "", VideoParams())
    for place, is_free in (([8.0, 0.0], False), ([-4.0, -4.0], False), ([8.0, 9.0], True)):
        column, row = np.round(scene.pixel(np.array(place))).astype(int)
        assert (scene.background[row, column].mean() > 128) == is_free


def test_a_stamp_is_a_disc_and_may_hang_over_the_edge():
    canvas = np.zeros((40, 40, 3), dtype=np.uint8)
    stamp(canvas, np.array([20.0, 20.0]), 5.0, np.full(3, 255.0))
    assert canvas[..., 0].sum() / 255 == pytest.approx(np.pi * 25, rel=0.05)
    for centre in ([-2.0, 20.0], [39.0, 41.0], [100.0, 0.0]):
        stamp(canvas, np.array(centre), 5.0, np.full(3, 255.0))
    assert canvas[20, 0, 0] == 255


def test_a_teleport_interrupts_the_line():
    shown = without_jumps(np.array([[0.0, 0.0], [0.2, 0.0], [9.0, 0.0], [9.2, 0.0]]))
    assert np.isnan(shown).all(axis=1).tolist() == [False, False, True, False]


def test_rollouts_are_drawn_over_their_plans(walked, tmp_path):
    result, rollouts = walked
    draw_rollouts(tmp_path / "walk.png", result.support, result.problem, rollouts, "two agents")
    assert (tmp_path / "walk.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_and_videos_say_why_they_cannot_be_written(walked, tmp_path):
    result, rollouts = walked
    (tmp_path / "file").write_text("")
    for draw in (draw_rollouts, draw_video):
        with pytest.raises(CannotWrite, match="cannot write"):
            draw(tmp_path / "file" / "walk.mp4", result.support, result.problem, rollouts)
    with pytest.raises(InvalidParameter, match="got 10, 360 and 30"):
        VideoParams(width=10)
