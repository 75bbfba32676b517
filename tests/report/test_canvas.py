import numpy as np
import pytest

from chronoforest.report.canvas import caption_strip, paint_disc, paint_line, rgb

WHITE = np.full(3, 255.0)


@pytest.fixture
def canvas():
    return np.zeros((40, 40, 3), dtype=np.uint8)


def test_a_disc_is_round_and_may_hang_over_the_edge(canvas):
    paint_disc(canvas, np.array([20.0, 20.0]), 5.0, WHITE)
    assert canvas[..., 0].sum() / 255 == pytest.approx(np.pi * 25, rel=0.05)
    for centre in ([-2.0, 20.0], [39.0, 41.0], [100.0, 0.0]):
        paint_disc(canvas, np.array(centre), 5.0, WHITE)
    assert canvas[20, 0, 0] == 255


def test_a_line_has_round_ends(canvas):
    paint_line(canvas, np.array([8.0, 10.0]), np.array([28.0, 25.0]), 3.0, WHITE)
    assert canvas[..., 0].sum() / 255 == pytest.approx(2 * 3.0 * 25 + np.pi * 9, rel=0.05)
    assert canvas[10, 8, 0] == canvas[25, 28, 0] == 255
    assert canvas[25, 8, 0] == 0


def test_colours_are_read_from_their_names():
    np.testing.assert_array_equal(rgb("#d1495b"), [0xD1, 0x49, 0x5B])


def test_a_caption_has_its_size_its_colour_and_words():
    strip = caption_strip("agent 1 → W3", "#00798c", 301, 26)
    assert strip.shape == (26, 301, 3)
    np.testing.assert_array_equal(strip[13, -5], rgb("#00798c"))
    assert (strip.min(axis=2) > 200).sum() > 100
    assert (caption_strip("agent 2", "#00798c", 301, 26) != strip).any()
