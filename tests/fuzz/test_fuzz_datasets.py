"""A dataset with anything in it is loaded or refused."""

import io

import numpy as np
from damage import cases, damaged_bytes, ends_well
from hypothesis import given
from hypothesis import strategies as st
from tiny import make_episodes

from chronoforest.data.episodes import flat_arrays, load
from chronoforest.data.imports import Columns, ImportParams, import_files

EPISODES = make_episodes(num_episodes=3, num_steps=5)


def packed(arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


WHOLE = {**flat_arrays(EPISODES), "metadata": np.array('{"a": 1}'), "recording": np.arange(3)}

arrays = st.sampled_from(
    [
        *(np.zeros(shape) for shape in ((15, 2), (0, 2), (), (3, 5, 2), (0,))),
        *(np.full((15, 2), value) for value in (np.nan, 1e300, 1j)),
        *(np.full(15, value) for value in (True, 1, "a")),
        *(np.array(text) for text in ("{", "[]")),
    ]
)
changes = st.dictionaries(st.sampled_from(sorted(WHOLE)), arrays, min_size=1, max_size=2)
npz = st.one_of(damaged_bytes(packed(WHOLE)), changes.map(lambda new: packed({**WHOLE, **new})))


@cases(100)
@given(npz)
def test_a_dataset_is_loaded_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "odd.npz"
    path.write_bytes(content)
    episodes = ends_well(load, path)
    if episodes is not None:
        assert np.isfinite(episodes.observations).all()
        assert episodes.summary()
    ends_well(import_files, [path], Columns(("observations.0", "observations.1")), ImportParams())
