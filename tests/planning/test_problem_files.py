import json

import pytest

from chronoforest.errors import InvalidProblem
from chronoforest.planning.problem_files import load_points, load_problem


def written(tmp_path, text, name="problem.json"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_problem_written_by_hand_is_read(tmp_path):
    problem = load_problem(written(tmp_path, '{"starts": [[0, 0]], "goals": [[5, 6]]}'))
    assert problem.starts.tolist() == [[0.0, 0.0]]
    assert problem.num_waypoints == 0


def test_the_problem_of_a_saved_plan_is_read(tmp_path):
    values = {
        "format": "chronoforest-plan/1",
        "problem": {"starts": [[0, 0]], "goals": [[5, 6]], "waypoints": [[1, 1]]},
    }
    assert load_problem(written(tmp_path, json.dumps(values))).waypoints.tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[1]", 'must be an object such as {"starts"'),
        ("{", "damaged or not a problem"),
        ('{"starts": [[0, 0]], "gaols": [[1, 1]]}', "lacks ['goals'] and has ['gaols'] that nobody knows"),
        ('{"starts": [[0, 0]], "goals": [[0, 0]]}', "S1 and G1 are both at (0, 0)"),
        ('{"starts": [["a", 0]], "goals": [[0, 0]]}', "could not convert"),
        ('{"starts": [[0, NaN]], "goals": [[0, 0]]}', "finite numbers"),
    ],
)
def test_a_problem_that_is_none_says_why(text, sentence, tmp_path):
    with pytest.raises(InvalidProblem) as error:
        load_problem(written(tmp_path, text))
    assert sentence in str(error.value)
    assert "problem.json" in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["x,y\n1,2\n3,4\n", "1,2\n3,4\n", "Y, X\n2, 1\n4, 3\n", "\ufeffx,y,name\n1,2,a\n\n3,4,b"],
)
def test_points_are_read_with_and_without_a_header(text, tmp_path):
    assert load_points(written(tmp_path, text, "p.csv")) == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("lon,lat\n1,2\n", "needs columns x and y"),
        ("1,2,3\n", "needs columns x and y"),
        ("x,y\n1,two\n", "could not convert"),
        ("x,y\n1\n", "index out of range"),
    ],
)
def test_points_that_are_none_say_why(text, sentence, tmp_path):
    with pytest.raises(InvalidProblem) as error:
        load_points(written(tmp_path, text, "p.csv"))
    assert sentence in str(error.value)


def test_no_file_is_said_so(tmp_path):
    with pytest.raises(InvalidProblem, match=r"nowhere\.csv: no such file"):
        load_points("nowhere.csv")
    with pytest.raises(InvalidProblem, match=r"nowhere\.json: no such file"):
        load_problem("nowhere.json")
