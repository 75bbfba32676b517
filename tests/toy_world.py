"""A one-way ring and a two-way field, recorded in any unit of length: worlds small enough to train on."""

import numpy as np

from chronoforest.data.episodes import Episodes


def ring_episodes(num_episodes=60, num_steps=41, unit=1.0, is_one_way=True, seed=0, num_actions=0):
    """Drives round a ring of radius 10, always counter-clockwise or either way."""
    rng = np.random.default_rng(seed)
    sense = np.ones(num_episodes) if is_one_way else rng.choice([-1.0, 1.0], num_episodes)
    phase = rng.uniform(0, 2 * np.pi, (num_episodes, 1)) + sense[:, None] * 0.08 * np.arange(num_steps)
    radius = 10 + rng.normal(0, 0.4, (num_episodes, 1))
    places = unit * np.stack([radius * np.cos(phase), radius * np.sin(phase)], axis=-1)
    actions = rng.uniform(-1, 1, (num_episodes, num_steps, num_actions))
    return Episodes(places.astype(np.float32), actions.astype(np.float32))


def as_tables(settings):
    """The same nested tables that reading the written file gives."""
    tables = {}
    for setting in settings:
        table, *parts = tables, *setting.name.split(".")
        for part in parts[:-1]:
            table = table.setdefault(part, {})
        table[parts[-1]] = setting.value
    return tables
