"""Models trained once for all tests of this folder, which copy what they change."""

import pytest
import torch
from tiny import PARAMS, make_episodes

from chronoforest.models.fit import FITS
from chronoforest.models.runs import Recordings, TrainingRun


@pytest.fixture(scope="session")
def recordings():
    return Recordings(make_episodes(), make_episodes(seed=1))


@pytest.fixture(scope="session")
def fitted(tmp_path_factory, recordings):
    """A folder with all four models, and the figures each fit returned."""
    folder = tmp_path_factory.mktemp("weights")
    run = TrainingRun(folder, "tiny", torch.device("cpu"))
    return folder, {kind: fit(recordings, PARAMS, run) for kind, fit in FITS.items()}


@pytest.fixture(scope="session")
def trained(fitted):
    """The folder alone."""
    return fitted[0]
