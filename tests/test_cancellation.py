"""Work that asks at every step whether to go on."""

import pytest

from chronoforest import cancellation
from chronoforest.cancellation import OutOfTime, checked, limited


def work(num_steps, done):
    for _ in range(num_steps):
        cancellation.step()
        done.append(1)


def test_work_ends_at_the_step_after_its_time_is_over():
    done = []
    with limited(lambda: len(done) == 3), pytest.raises(OutOfTime):
        work(9, done)
    assert len(done) == 3


def test_outside_the_limit_nothing_is_asked():
    done = []
    with limited(lambda: True):
        pass
    work(4, done)
    assert len(done) == 4


def test_an_outer_limit_holds_inside_an_inner_one():
    done = []
    with limited(lambda: len(done) == 2), limited(lambda: False), pytest.raises(OutOfTime):
        work(9, done)
    assert len(done) == 2


def test_a_check_may_raise_what_it_likes():
    def check():
        raise KeyboardInterrupt

    with checked(check), pytest.raises(KeyboardInterrupt):
        cancellation.step()
