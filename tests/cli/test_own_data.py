"""From a CSV file to a plan by the commands a person would type, on a world that a test can afford."""

import csv

import pytest
from toy_world import ring_episodes

from chronoforest import load_planner, load_result
from chronoforest.cli import main
from chronoforest.data.episodes import load
from chronoforest.errors import BadCheckpoint
from chronoforest.models import store

pytestmark = pytest.mark.filterwarnings("ignore::chronoforest.presets.quality.WeakModels")
"""After thirty steps of training they are."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which everything up to `train` has run."""
    folder = tmp_path_factory.mktemp("own")
    with (folder / "trips.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("trip", "seconds", "east", "north"))
        for trip, places in enumerate(ring_episodes(num_episodes=40).xy):
            length = 41 - trip % 5
            writer.writerows((trip, 0.5 * t, *place) for t, place in enumerate(places[:length].tolist()))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        columns = ["--coordinates", "east", "north", "--episode", "trip", "--time", "seconds"]
        assert main(["data", "import", "trips.csv", "--out", "ring.npz", *columns]) == 0
        assert main(["preset", "new", "ring", "--data", "ring.npz"]) == 0
        file = folder / "ring.toml"
        file.write_text(
            file.read_text().replace("[planner]\n", "[planner]\nmax_rounds = 2\nrounds_per_leg = 0\n")
        )
        options = ["--quick", "--steps", "30", "--batch", "16", "--device", "cpu"]
        assert main(["train", "all", "--preset", "ring", *options]) == 0
    return folder


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def test_recordings_of_different_lengths_were_imported_with_nothing_to_walk_with(here):
    episodes = load(here / "ring.npz")
    assert not episodes.has_actions
    assert episodes.recording.max() == 39
    assert episodes.metadata["step_seconds"] == 0.5


def test_the_preset_says_how_each_value_was_found(here):
    text = (here / "ring.toml").read_text()
    lines = [line for line in text.splitlines() if " = " in line and "max_rounds" not in line]
    assert all("# " in line for line in lines if "rounds_per_leg" not in line)
    assert "is_reversible = false" in text


def test_weights_lie_where_plan_looks_for_them_and_the_tracker_is_left_out(here):
    assert store.model_path(here / "runs" / "ring", "denoiser").is_file()
    assert not store.model_path(here / "runs" / "ring", "tracker").exists()


@pytest.mark.parametrize("preset", ["ring", "ring.toml"])
def test_plan_works_as_on_a_shipped_preset(here, preset, capsys):
    options = ["--starts", "10,0", "--goals=-10,0", "--waypoints", "0,10", "--out", "plan", "--overwrite"]
    code = main(["plan", "--preset", preset, *options])
    result = load_result(here / "plan" / "plan.json")
    assert code == (0 if result.complete else 3)
    assert result.preset == "ring"
    assert result.routes[0].path[0].tolist() == [10.0, 0.0]
    assert (here / "plan" / "plan.png").is_file()


def test_walking_is_refused_in_one_sentence(here):
    with pytest.raises(BadCheckpoint, match=r"'ring' have no actions .* plans can be made but not walked"):
        _ = load_planner("ring").tracker


def test_training_says_that_there_is_nothing_to_walk_with(here, tmp_path, capsys):
    options = ["--preset", "ring", "--quick", "--steps", "2", "--batch", "4", "--out", str(tmp_path)]
    assert main(["train", "tracker", *options]) == 2
    assert "no actions" in capsys.readouterr().err


def test_weights_of_another_stride_are_refused(here):
    text = (here / "ring.toml").read_text().replace("stride = 1 ", "stride = 2 ")
    (here / "other").mkdir(exist_ok=True)
    (here / "other" / "ring.toml").write_text(text)
    with pytest.raises(
        BadCheckpoint, match="trained on 30 frames of 1 steps, 'ring' has 30 of 2; train it again"
    ):
        load_planner("other/ring.toml", weights="runs/ring")


def test_inspect_draws_what_was_imported(here, capsys):
    assert main(["data", "inspect", "ring.npz"]) == 0
    printed = capsys.readouterr().out
    assert "none recorded" in printed
    assert "reach        100 % of the places can all be reached from each other" in printed
    assert (here / "ring.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["data", "import", "--out", "x.npz"], "no files to import"),
        (["data", "import", "trips.csv", "--out", "x.csv"], "--out must end in .npz"),
        (["data", "import", "trips.csv", "--out", "ring.npz"], "ring.npz exists already; --overwrite"),
        (
            ["data", "import", "trips.csv", "--out", "x.npz", "--time", "t"],
            "no column 't'; there are: trip",
        ),
        (["preset", "new", "ring", "--data", "ring.npz"], "exists already; --overwrite replaces it"),
        (["preset", "new", "a b", "--data", "ring.npz"], "letters, digits, - and _, got 'a b'"),
        (["preset", "new", "x", "--data", "none.npz"], "no such file"),
        (["preset", "new", "x", "--data", "ring.npz", "--out", "y.toml"], "called after its file"),
        (["preset", "new", "pointmaze-giant-stitch-v0", "--data", "ring.npz"], "ships with the package"),
    ],
)
def test_mistakes_are_one_line(here, arguments, sentence, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
