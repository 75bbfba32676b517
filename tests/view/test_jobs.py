import asyncio
import gc
import threading
import weakref

import pytest

from chronoforest.errors import Busy, InvalidProblem, UnknownJob
from chronoforest.view.jobs import JobLimits, Jobs


class Thing:
    """Something that work returns and that can be watched going away."""


async def followed(jobs, job):
    """Everything that a job tells, as (kind, data)."""
    return [(event.kind, event.data) async for batch in jobs.follow(job, 0) for event in batch]


def run(scenario, **limits):
    async def main():
        jobs = Jobs(JobLimits(**limits))
        try:
            return await scenario(jobs)
        finally:
            jobs.close()

    return asyncio.run(main())


def test_what_work_tells_arrives_in_order_and_what_it_returns_is_kept():
    def work(job):
        for number in range(3):
            job.tell("number", str(number))
        return "outcome"

    async def scenario(jobs):
        job = jobs.submit("me", work)
        told = await followed(jobs, job)
        assert told == [("number", "0"), ("number", "1"), ("number", "2"), ("done", "{}")]
        assert (job.state, job.outcome) == ("done", "outcome")

    run(scenario)


def test_a_refusal_is_told_as_its_sentence_and_a_bug_as_one_too(caplog):
    def refuse(job):
        raise InvalidProblem("no such place")

    def stumble(job):
        raise KeyError("lost")

    async def scenario(jobs):
        assert await followed(jobs, jobs.submit("a", refuse)) == [("failed", '{"error": "no such place"}')]
        ((kind, data),) = await followed(jobs, jobs.submit("b", stumble))
        assert kind == "failed"
        assert "this should not happen: KeyError('lost')" in data

    run(scenario)
    assert "a job failed" in caplog.text


def test_work_that_checks_ends_soon_after_a_cancel_and_tells_nothing_more():
    started, ended = threading.Event(), threading.Event()

    def work(job):
        started.set()
        try:
            while True:
                job.check()
        finally:
            ended.set()

    async def scenario(jobs):
        job = jobs.submit("me", work)
        await asyncio.to_thread(started.wait, 5)
        jobs.cancel(job)
        assert job.state == "cancelled"
        assert await asyncio.to_thread(ended.wait, 5)
        assert await followed(jobs, job) == [("cancelled", "{}")]
        jobs.cancel(job)
        assert len(job.events) == 1

    run(scenario)


def test_a_waiting_job_that_is_cancelled_never_runs():
    gate, ran = threading.Event(), []

    async def scenario(jobs):
        first = jobs.submit("a", lambda job: gate.wait(5))
        second = jobs.submit("b", lambda job: ran.append(1))
        jobs.cancel(second)
        gate.set()
        await followed(jobs, first)
        jobs.submit("c", lambda job: None)
        assert ran == []

    run(scenario)


def test_one_job_for_each_session_and_so_many_in_the_queue():
    gate = threading.Event()

    async def scenario(jobs):
        first = jobs.submit("a", lambda job: gate.wait(5))
        with pytest.raises(Busy, match=f"cancel {first.id} first"):
            jobs.submit("a", lambda job: None)
        jobs.submit("b", lambda job: None)
        with pytest.raises(Busy, match="2 plans are waiting already"):
            jobs.submit("c", lambda job: None)
        gate.set()
        await followed(jobs, first)
        jobs.submit("a", lambda job: None)

    run(scenario, num_waiting=1)


def test_finished_jobs_are_forgotten_by_number_and_by_time_and_their_memory_is_freed():
    alive = []

    def work(job):
        thing = Thing()
        alive.append(weakref.ref(thing))
        return thing

    async def scenario(jobs):
        ids = []
        for number in range(4):
            job = jobs.submit(str(number), work)
            ids.append(job.id)
            await followed(jobs, job)
            del job
        assert len(jobs) == 2
        with pytest.raises(UnknownJob, match="may be over and forgotten"):
            jobs.get(ids[0])
        await asyncio.sleep(0.4)
        assert len(jobs) == 0
        gc.collect()
        assert [thing() for thing in alive] == [None] * 4

    run(scenario, num_finished=2, keep_seconds=0.3, grace=0.05, patience=0.2)


def test_a_follower_may_come_back_in_time():
    gate = threading.Event()

    async def scenario(jobs):
        job = jobs.submit("me", lambda job: (job.tell("one", "1"), gate.wait(5)))
        async for batch in jobs.follow(job, 0):
            if batch:
                break
        back = asyncio.create_task(followed(jobs, job))
        await asyncio.sleep(0.4)
        assert not job.is_over
        gate.set()
        assert [kind for kind, _ in await back] == ["one", "done"]

    run(scenario, grace=0.2)


def test_a_closed_queue_has_cancelled_everything_and_takes_nothing_more():
    gate = threading.Event()

    async def scenario(jobs):
        running, waiting = (jobs.submit(name, lambda job: gate.wait(5)) for name in "ab")
        jobs.close()
        gate.set()
        assert (running.state, waiting.state) == ("cancelled", "cancelled")
        with pytest.raises(Busy, match="the viewer is ending"):
            jobs.submit("c", lambda job: None)

    run(scenario)


@pytest.mark.parametrize("leaves", [True, False])
def test_a_job_without_a_follower_is_cancelled(leaves):
    def work(job):
        while True:
            job.check()

    async def scenario(jobs):
        job = jobs.submit("me", work)
        if leaves:
            async for _ in jobs.follow(job, 0, beat=0.05):
                break
        await asyncio.sleep(0.5)
        assert job.state == "cancelled"

    run(scenario, grace=0.1, patience=60.0 if leaves else 0.1)
