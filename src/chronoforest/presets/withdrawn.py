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

_TRAININGS = ("models.denoiser_training", "models.distance_training", "models.tracker_training")

_FIXED = {
    "models.window": "padded_share",
    "models.denoiser": "frame_dim frames_per_token",
    **dict.fromkeys(_TRAININGS, "warmup final_share weight_decay clip"),
    "models.distance": "state_dim num_layers latent",
    "models.calibration": "num_pairs coverage seed",
    "models.density": "support_quantile step_quantile heading_share",
    "models.tracker": "random_share num_layers discount expectile temperature largest_weight",
    "sampler.guidance": "anchor_weight step_rate largest_step",
    "planner.search.junction": "exec_scale num_tries",
    "planner.assembly": "crowding num_passes slack worth_building",
    "planner": "solver",
    "execution": "back_steps",
}

_OPTIONS = {
    f"{training}.{name}": f"--{name.replace('_', '-')}"
    for training in _TRAININGS
    for name in ("seed", "checkpoint_seconds")
}

WITHDRAWN: dict[str, str] = {
    **{name: f"{name} is gone; set {instead}" for name, instead in _MOVED.items()},
    **{
        f"{table}.{name}": f"{table}.{name} is the same for every preset now; leave it out"
        for table, names in _FIXED.items()
        for name in names.split()
    },
    **{name: f"{name} is now `chronoforest train {option}`" for name, option in _OPTIONS.items()},
}
"""What to tell someone whose file sets a key that is gone."""
