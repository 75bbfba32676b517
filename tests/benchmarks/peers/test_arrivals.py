import numpy as np
import pytest
from peer_cases import make_inputs

from benchmarks.peers.diffusion_replan import arrival

SOURCE, TARGET = np.array([3.0, 3.0]), np.array([17.0, 3.0])


def test_the_earliest_frame_near_the_target_is_the_arrival():
    inputs = make_inputs()
    line = np.linspace(SOURCE, TARGET, 57)
    reached = arrival(np.stack([line + np.array([0.0, 5.0]), line]), TARGET - np.array([5.0, 0.0]), inputs)
    assert (reached.row, reached.frame) == (1, 34)
    assert reached.gap == pytest.approx(inputs.params.search.meeting_steps, abs=2.6)
    assert arrival(line[None], TARGET + np.array([0.0, 5.0]), inputs) is None
