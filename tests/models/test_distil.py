"""A student on networks small enough for a test: what it learns from, and what it learns."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from tiny import PARAMS, make_denoiser, make_distance

from chronoforest.errors import BadCheckpoint
from chronoforest.models import checkpoint, store
from chronoforest.models.denoiser import sampling_levels, signal_table
from chronoforest.models.distil import (
    LessonParams,
    distilling_loss,
    draw_lessons,
    fit_student_model,
)
from chronoforest.models.params import SamplerParams
from chronoforest.models.runs import TrainingRun
from chronoforest.models.sampler import SegmentSampler, Student

CPU = torch.device("cpu")
LEVELS, NOISES, TEACHER_STEP = LessonParams.levels, LessonParams.num_noises, LessonParams.teacher_step
PLACES = np.random.default_rng(0).uniform(1.0, 9.0, (50, 2))


@pytest.fixture
def teacher():
    return SegmentSampler(make_denoiser(), make_distance(), SamplerParams())


@pytest.fixture
def lessons(teacher):
    torch.manual_seed(0)
    return draw_lessons(teacher, PLACES, 5.0, 6, np.random.default_rng(0), LessonParams())


@pytest.fixture
def folder(trained, tmp_path):
    """A copy, in which a student may learn."""
    for kind in store.KINDS:
        store.model_path(tmp_path, kind).write_bytes(store.model_path(trained, kind).read_bytes())
    return tmp_path


def fit(run):
    """From few segments."""
    return fit_student_model(PARAMS, run, LessonParams(num_segments=16, part=8))


def load(folder):
    return store.load_models(folder, "tiny", SamplerParams())


def test_there_is_a_lesson_for_every_level_and_noise_of_a_segment(lessons):
    assert len(lessons) == 6 * NOISES * (len(LEVELS) - 1)
    starts = lessons.levels.max(dim=1).values
    assert sorted(set(starts.tolist())) == sorted(LEVELS[:-1])
    assert (lessons.levels > 0).sum(dim=1).unique().tolist() == [lessons.noisy.shape[1] - 1]
    at_ends = lessons.levels[:, [0, -1]] == 0  # the boundary is first in segments that leave, else last
    assert at_ends.any(dim=0).all()
    assert (at_ends.sum(dim=1) == 1).all()


def test_one_step_to_the_target_ends_where_the_teachers_steps_do(teacher, lessons):
    """The target is undone by a DDIM step over the whole span, and redone by the teacher's small ones."""
    for first, last in pairwise(LEVELS):
        of_span = lessons.levels.max(dim=1).values == first
        noisy, levels, target = (t[of_span] for t in (lessons.noisy, lessons.levels, lessons.target))
        tokens = noisy
        for level, following in pairwise([*range(first, last, -TEACHER_STEP), last]):
            with torch.no_grad():
                clean = teacher.net(tokens, (levels > 0) * level)
            tokens = torch.where((levels > 0)[..., None], step(tokens, clean, level, following), tokens)
        at_once = torch.where((levels > 0)[..., None], step(noisy, target, first, last), noisy)
        torch.testing.assert_close(at_once, tokens, rtol=1e-3, atol=1e-3)


def step(noisy, clean, level, following):
    signal = signal_table()
    noise = (noisy - signal[level].sqrt() * clean) / (1 - signal[level]).sqrt()
    return signal[following].sqrt() * clean + (1 - signal[following]).sqrt() * noise


def test_the_loss_is_none_for_who_knows_the_targets_and_looks_at_free_tokens_only(lessons):
    wrong_at_boundary = lessons.target + (lessons.levels == 0)[..., None]
    assert float(distilling_loss(lambda noisy, levels: wrong_at_boundary, lessons)) == 0.0
    assert float(distilling_loss(lambda noisy, levels: lessons.target + 2.0, lessons)) == pytest.approx(4.0)


def test_training_brings_a_student_nearer_to_its_teacher(folder):
    teacher = load(folder).sampler
    fit(TrainingRun(folder, "tiny", CPU))
    student = load(folder).sampler
    assert student.levels == LEVELS
    assert student.denoising_by().levels == teacher.levels
    lessons = draw_lessons(teacher, PLACES, 5.0, 16, np.random.default_rng(5), LessonParams())
    with torch.no_grad():
        assert distilling_loss(student.net, lessons) < distilling_loss(teacher.net, lessons)


def test_a_student_is_used_where_its_steps_are_allowed(teacher):
    sampler = SegmentSampler(teacher.net, None, SamplerParams(), "cpu", Student(make_denoiser(1), LEVELS))
    assert sampler.in_steps(8).levels == LEVELS
    assert sampler.in_steps(4).levels == LEVELS
    assert sampler.in_steps(3).levels == sampling_levels(3)
    assert sampler.denoising_by().net is sampler.teacher


def test_the_student_of_another_denoiser_is_not_used(folder, caplog):
    fit(TrainingRun(folder, "tiny", CPU))
    path = store.model_path(folder, "denoiser")
    tensors, card = checkpoint.read(path, "denoiser")
    checkpoint.write(path, {**tensors, "head.bias": tensors["head.bias"] + 1.0}, card)
    assert load(folder).sampler.student is None
    assert "distilled from another denoiser" in caplog.text


def test_a_student_without_levels_is_refused(folder):
    fit(TrainingRun(folder, "tiny", CPU))
    path = store.model_path(folder, "student")
    tensors, card = checkpoint.read(path, "student")
    del card["levels"]
    checkpoint.write(path, tensors, card)
    with pytest.raises(BadCheckpoint, match="levels"):
        load(folder)


def test_a_stopped_student_goes_on_as_if_it_had_never_stopped(folder):
    run = TrainingRun(folder, "tiny", CPU)
    fit(run)
    whole = checkpoint.read(store.model_path(folder, "student"), "student")[0]

    class Stop(Exception):
        pass

    def interrupt(progress):
        raise Stop

    (folder / "student.training.safetensors").unlink()
    with pytest.raises(Stop):
        fit(TrainingRun(folder, "tiny", CPU, on_progress=interrupt))
    fit(TrainingRun(folder, "tiny", CPU, is_resumed=True))
    again = checkpoint.read(store.model_path(folder, "student"), "student")[0]
    assert all(torch.equal(whole[name], again[name]) for name in whole)
