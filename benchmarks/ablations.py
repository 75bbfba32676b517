"""Ablations: variants of the planner that lack one part, as values, by the names that records have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from chronoforest.errors import UnknownVariant
from chronoforest.planning.variants import (
    VARIANTS,
    VERIFIED,
    PlannerParams,
    Variant,
    reversible,
    unchallenged,
    unshortened,
)
from chronoforest.routing.bridges import direct
from chronoforest.search.expand import SearchModels
from chronoforest.search.scoring import straight_ranking


def _searching(**changes: object) -> Callable[[PlannerParams], PlannerParams]:
    return lambda params: replace(params, search=replace(params.search, **changes))  # type: ignore[arg-type]


def _guided(**changes: str | float) -> Callable[[SearchModels], SearchModels]:
    return lambda models: replace(models, sampler=models.sampler.guided_by(**changes))


def _without_student(models: SearchModels) -> SearchModels:
    return replace(models, sampler=models.sampler.denoising_by())


def _single(params: PlannerParams) -> PlannerParams:
    junction = replace(params.search.junction, num_samples=1, scales=params.search.junction.scales[:1])
    return replace(params, search=replace(params.search, junction=junction))


ABLATIONS = {
    variant.name: variant
    for variant in (
        Variant("single", _single),
        Variant("start-tree-only", _searching(grows_target=False)),
        Variant("l2-root", _searching(ranking=straight_ranking)),
        Variant("no-uncertainty", _searching(uncertainty_weight=0.0)),
        Variant("temporal-fixed", fixes_order=True),
        Variant("graph-fixed", needs_order=True),
        Variant("exhaustive", is_exhaustive=True),
        Variant("reversed-trees", reversible),
        Variant("direct-matrix", chained=direct),
        Variant("learned-distance", sums_hops=False),
        Variant("no-guidance", equip=_guided(strength=0.0)),
        Variant("no-shortening", unshortened),
        Variant("no-challenges", unchallenged),
        Variant("no-student", equip=_without_student),
        Variant("noisy-injection", equip=_guided(inject="noisy")),
        Variant("sparse-guidance", equip=_guided(spread="sparse")),
        replace(VERIFIED, name="verified-no-student", equip=_without_student),
        replace(VERIFIED, name="verified-single", adapt=_single, piece_samples=(1,)),
        replace(VERIFIED, name="verified-no-guidance", equip=_guided(strength=0.0)),
        replace(VERIFIED, name="verified-no-shortening", adapt=unshortened),
        replace(VERIFIED, name="roadmap-fixed", fixes_order=True),
    )
}

_PAPER = VARIANTS["paper"]


def _as_paper(lacking: Variant, params: PlannerParams) -> PlannerParams:
    return lacking.adapt(_PAPER.adapt(params))


PAPER_ABLATIONS = {
    f"paper-{name}": replace(
        _PAPER,
        name=f"paper-{name}",
        adapt=partial(_as_paper, ABLATIONS[name]),
        fixes_order=ABLATIONS[name].fixes_order,
        needs_order=ABLATIONS[name].needs_order,
    )
    for name in ("single", "start-tree-only", "l2-root", "no-uncertainty", "temporal-fixed", "graph-fixed")
}
"""The variant `paper` with what an ablation changes of the parameters."""

CHOICES = {**VARIANTS, **ABLATIONS, **PAPER_ABLATIONS}  # all that trials plan with


def named(variant: str) -> Variant:
    """A variant of the planner or an ablation, by its name."""
    if variant not in CHOICES:
        raise UnknownVariant(variant, choices=CHOICES)
    return CHOICES[variant]
