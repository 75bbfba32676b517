import pytest

from benchmarks.measuring import REST, Stopwatch


class Clock:
    """Time that only work moves on."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("benchmarks.measuring.time.perf_counter", clock)
    return clock


def test_time_goes_to_the_outermost_part_and_else_to_the_rest(clock):
    def inner():
        clock.now += 2

    def outer():
        clock.now += 1
        inner()

    def recursive(depth):
        clock.now += 5
        if depth:
            recursive(depth - 1)

    with Stopwatch({"outer": [outer], "inner": [inner], "recursive": [recursive]}) as watch:
        outer()
        clock.now += 10
        inner()
        recursive(2)
    assert watch.seconds == {"outer": 3.0, "inner": 2.0, "recursive": 15.0, REST: 10.0}
    assert watch.shares()["recursive"] == 0.5
