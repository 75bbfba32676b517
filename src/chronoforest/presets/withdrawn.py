"""Keys that preset files of earlier versions may set, and where the same is set now."""

from __future__ import annotations

IDLE = frozenset({"planner.landmark_spacing"})
"""Keys that mean nothing any more: a file that sets one is read as if it did not."""

MOVED: dict[str, str] = {
    "models.distance.is_directed": "world.is_reversible, which is its opposite",
    "planner.is_reversible": "world.is_reversible",
    "planner.search.junction.is_one_way": "world.is_one_way",
    "models.density.num_headings": "world.is_one_way",
    "models.density.heading_steps": "world.is_one_way and models.window.stride",
    "planner.assembly.largest_turn": "world.is_one_way",
    "models.calibration.jump": "world.jump",
    "models.density.jump": "world.jump",
    "execution.jump": "world.jump",
    "planner.stride": "models.window.stride",
    "models.window.max_late": "models.window.stride and models.window.horizon",
    "models.denoiser.num_heads": "models.denoiser.width",
    "models.denoiser.feed_forward": "models.denoiser.width",
    "sampler.guidance.rdf_weight": "sampler.guidance.rdf_radius",
    **{
        f"planner.{name}": f"planner.challenge.{name}"
        for name in ("optimism", "doubt", "chain_doubt", "max_doubts", "max_challenges")
    },
    "models.distance.averages_luck": "models.distance.has_action_values",
    "models.distance.acts_by_moving": "models.distance.has_moves_for_actions",
    **{
        f"models.{model}_training.{name}": f"--{name.replace('_', '-')} of `chronoforest train`"
        for model in ("denoiser", "distance", "tracker")
        for name in ("seed", "checkpoint_seconds")
    },
}
