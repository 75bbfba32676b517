"""Keys that preset files of earlier versions may set, and what became of each."""

from __future__ import annotations

_MOVED = {
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
}

_TRAINED = ("denoiser", "distance", "tracker")
_LOOP = ("warmup", "final_share", "weight_decay", "clip")

_FIXED = (
    "models.window.padded_share",
    *(f"models.denoiser.{name}" for name in ("frame_dim", "frames_per_token")),
    *(f"models.{model}_training.{name}" for model in _TRAINED for name in _LOOP),
    *(f"models.distance.{name}" for name in ("state_dim", "num_layers", "latent")),
    *(f"models.calibration.{name}" for name in ("num_pairs", "coverage", "seed")),
    *(f"models.density.{name}" for name in ("support_quantile", "step_quantile", "heading_share")),
    *(f"models.tracker.{name}" for name in ("random_share", "num_layers", "discount", "expectile")),
    *(f"models.tracker.{name}" for name in ("temperature", "largest_weight")),
    *(f"sampler.guidance.{name}" for name in ("anchor_weight", "step_rate", "largest_step")),
    *(f"planner.search.junction.{name}" for name in ("exec_scale", "num_tries")),
    *(f"planner.assembly.{name}" for name in ("crowding", "num_passes", "slack", "worth_building")),
    "planner.solver",
    "execution.back_steps",
)

_OPTIONS = {
    f"models.{model}_training.{name}": option
    for model in _TRAINED
    for name, option in (("seed", "--seed"), ("checkpoint_seconds", "--checkpoint-seconds"))
}

WITHDRAWN: dict[str, str] = {
    **{name: f"{name} is gone; set {instead}" for name, instead in _MOVED.items()},
    **{name: f"{name} is the same for every preset now; leave it out" for name in _FIXED},
    **{name: f"{name} is now `chronoforest train {option}`" for name, option in _OPTIONS.items()},
}
"""What to tell someone whose file sets a key that is gone."""
