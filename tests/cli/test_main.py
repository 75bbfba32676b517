import subprocess
import sys
import warnings

import pytest

from chronoforest import cli
from chronoforest.cli import FIRST, VERBS, Verb, main


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    listing = capsys.readouterr().out
    assert all(name in listing for name in VERBS)


def test_without_arguments_the_five_commands_that_people_need_first_are_shown(capsys):
    assert main([]) == 0
    shown = [line.split("  ")[1] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert tuple(shown) == FIRST
    assert len(FIRST) == 5


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("plna --preset x", "plan"),
        ("data inport", "data import"),
        ("demos", "demo"),
        ("train al -h", "train all"),
    ],
)
def test_a_command_that_is_nearly_one_is_asked_about(typed, meant, capsys):
    assert main(typed.split()) == 2
    assert f"; did you mean {meant!r}? available: data fetch, " in capsys.readouterr().err


def test_a_group_lists_its_own_commands(capsys):
    assert main(["data"]) == 0
    listing = capsys.readouterr().out
    assert "data inspect" in listing
    assert all("data" in name for name in VERBS if name in listing)


@pytest.mark.parametrize("name", sorted(VERBS))
def test_every_command_explains_its_arguments(name, capsys):
    assert main([*name.split(), "--help"]) == 0
    assert f"usage: chronoforest {name}" in capsys.readouterr().out


def test_help_does_not_wait_for_heavy_imports():
    code = (
        "import sys; from chronoforest.cli import main; main(['--help']); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'ogbench', 'mujoco', 'matplotlib', 'scipy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0


def test_an_unknown_command_is_one_line(capsys):
    assert main(["fly"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("chronoforest: unknown command 'fly'; available: ")
    assert error.count("\n") == 1


def test_wrong_arguments_end_with_2(capsys):
    assert main(["demo", "--seed", "many"]) == 2
    capsys.readouterr()


def interrupted() -> None:
    """Pretend that someone pressed ctrl-C."""
    raise KeyboardInterrupt


def test_an_interruption_is_a_sentence_and_130(monkeypatch, capsys):
    monkeypatch.setitem(cli.VERBS, "stop", Verb(f"{__name__}:interrupted", "stops"))
    assert main(["stop"]) == 130
    assert capsys.readouterr().err == "chronoforest: interrupted; what was saved so far is kept\n"


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("chronoforest ")


def test_the_package_can_be_run_as_a_module():
    command = [sys.executable, "-m", "chronoforest", "plna"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "did you mean 'plan'" in done.stderr


def test_a_warning_is_a_sentence_without_a_place_in_the_library(monkeypatch, capsys):
    def warn():
        warnings.warn("the models are weak", UserWarning, stacklevel=1)

    monkeypatch.setitem(VERBS, "warn", Verb("nowhere:nothing", "warns"))
    monkeypatch.setattr(Verb, "load", lambda verb: warn)
    former = warnings.formatwarning
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda m, c, f, n, *_: sys.stderr.write(warnings.formatwarning(m, c, f, n))
        assert main(["warn"]) == 0
    assert capsys.readouterr().err == "chronoforest: the models are weak\n"
    assert warnings.formatwarning is former
