"""The names users rely on, as the README shows them."""

import inspect
import subprocess
import sys
from importlib.metadata import version

import pytest
from fakes import make_planner

import chronoforest as cf


@pytest.mark.parametrize("name", cf.__all__)
def test_every_public_name_exists_under_its_own_name(name):
    assert getattr(cf, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Forrest'"):
        cf.Forrest  # noqa: B018


def test_importing_the_package_does_not_import_torch():
    code = "import sys, chronoforest; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_plan_has_everything_the_manual_promises(tmp_path):
    problem = cf.Problem(starts=[[3.0, 3.0]], goals=[[17.0, 17.0]], waypoints=[[3.0, 17.0]])
    result = make_planner().plan(problem, seed=0)
    assert result.complete is True
    assert result.routes[0].order == ["S1", "W1", "G1"]
    path = result.routes[0].path
    assert path.dtype.kind == "f"
    assert path.shape == (len(path), 2)
    assert isinstance(result.length, float)
    assert isinstance(result.num_expanded, int)
    assert isinstance(result.num_rounds, int)
    assert result.seconds > 0
    assert not result.unmet
    result.save(tmp_path / "plan.json")
    assert cf.load_result(tmp_path / "plan.json").complete
    result.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").is_file()


def test_plan_takes_stop_observer_variant_order_and_memory_by_name():
    named = inspect.signature(cf.Planner.plan).parameters
    assert {
        "starts",
        "goals",
        "waypoints",
        "snap",
        "depart",
        "seed",
        "seconds",
        "stop",
        "on_round",
        "variant",
        "order",
        "memory",
    } <= set(named)
    assert {"name", "device", "weights"} <= set(inspect.signature(cf.load_planner).parameters)


def test_every_error_is_a_chronoforest_error():
    from chronoforest import errors

    family = [e for _, e in inspect.getmembers(errors, inspect.isclass) if e.__module__ == errors.__name__]
    assert len(family) > 5
    assert all(issubclass(error, cf.ChronoForestError) for error in family)


def test_the_package_is_typed_and_versioned():
    from importlib.resources import files

    assert files("chronoforest").joinpath("py.typed").is_file()
    assert version("chronoforest")


def test_completion_offers_the_public_names_and_the_version():
    assert dir(cf) == sorted([*cf.__all__, "__version__"])
    assert cf.__version__ == version("chronoforest")
