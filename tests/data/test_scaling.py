import numpy as np
import torch

from chronoforest.data.scaling import Scaling


def values(shape=(5, 30, 3)):
    return np.random.default_rng(0).normal([10.0, -3.0, 0.0], [5.0, 0.1, 1.0], shape)


def test_restoring_undoes_normalising():
    scaling = Scaling.fit(values())
    world = torch.as_tensor(values(), dtype=torch.float32)
    torch.testing.assert_close(scaling.restore(scaling.normalise(world)), world, atol=1e-4, rtol=1e-5)


def test_fitted_values_have_mean_0_and_deviation_1_in_every_dimension():
    world = torch.as_tensor(values(), dtype=torch.float32)
    normal = Scaling.fit(values()).normalise(world).reshape(-1, 3)
    torch.testing.assert_close(normal.mean(dim=0), torch.zeros(3), atol=1e-3, rtol=0)
    torch.testing.assert_close(normal.std(dim=0, correction=0), torch.ones(3), atol=1e-3, rtol=0)


def test_a_dimension_that_never_changes_does_not_divide_by_zero():
    constant = np.ones((4, 2))
    assert torch.isfinite(Scaling.fit(constant).normalise(torch.ones(4, 2))).all()


def test_the_unit_scaling_changes_nothing():
    world = torch.as_tensor(values())
    assert torch.equal(Scaling.unit(3).normalise(world), world)
    assert torch.equal(Scaling.unit(3).restore(world), world)


def test_fitted_numbers_travel_with_the_weights():
    fitted, empty = Scaling.fit(values()), Scaling.unit(3)
    empty.load_state_dict(fitted.state_dict())
    world = torch.as_tensor(values(), dtype=torch.float32)
    assert torch.equal(empty.normalise(world), fitted.normalise(world))
