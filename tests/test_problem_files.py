import json

import pytest

from chronoforest.errors import InvalidProblem
from chronoforest.types.problem_files import load_points, load_problem, load_problems


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
        ('{"starts": [[0, 0]], "gaols": [[1, 1]]}', "gaols"),
        ('{"starts": [["a", 0]], "goals": [[0, 0]]}', "'a'"),
        ('{"starts": [[0, NaN]], "goals": [[0, 0]]}', "finite"),
    ],
)
def test_a_problem_that_is_none_says_why(text, sentence, tmp_path):
    with pytest.raises(InvalidProblem, match=r"problem\.json") as error:
        load_problem(written(tmp_path, text))
    assert sentence in str(error.value)


def test_no_file_is_said_so():
    for read in (load_points, load_problem):
        with pytest.raises(InvalidProblem, match="nowhere: no such file"):
            read("nowhere")


@pytest.mark.parametrize(
    "text",
    [
        "x,y\n1,2\n3,4\n",
        "1,2\n3,4\n",
        "lon,lat\n1,2\n3,4\n",
        "Y, X\n2, 1\n4, 3\n",
        "\ufeffx,y,name\n1,2,a\n\n3,4,b",
    ],
)
def test_points_are_read_with_and_without_a_header(text, tmp_path):
    points, names = load_points(written(tmp_path, text, "p.csv"))
    assert points == [[1.0, 2.0], [3.0, 4.0]]
    assert names == (["a", "b"] if "name" in text else ["", ""])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n1,2\n", "needs columns x and y"),
        ("1,2,3\n", "needs columns x and y"),
        ("x,y\n1,two\n", "could not convert"),
        ("x,y\n1\n", "index out of range"),
    ],
)
def test_points_that_are_none_say_why(text, sentence, tmp_path):
    with pytest.raises(InvalidProblem) as error:
        load_points(written(tmp_path, text, "p.csv"))
    assert sentence in str(error.value)


ONE = '{"starts": [[0, 0]], "goals": [[5, 6]]}'
SECOND = (
    '{"name": "b-2", "seed": 7, "starts": [[0, 0], [1, 1]], "goals": [[5, 6], [7, 8]], "waypoints": [[2, 2]]}'
)
TABLE = """name,start_x,start_y,goal_x,goal_y,waypoints,seed,note
,0,0,5,6,,,x
b-2, 0, 0, 7, 8, "2,2 3,3", 7,
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [(f"[{ONE}, {SECOND}]", "p.json"), (f"{ONE}\n\n{SECOND}\n", "p.jsonl"), (TABLE, "P.CSV")],
)
def test_many_problems_are_read(text, name, tmp_path):
    first, second = load_problems(written(tmp_path, text, name))
    assert (first.name, first.seed, first.problem.num_waypoints) == ("000001", None, 0)
    assert first.problem.goals.tolist() == [[5.0, 6.0]]
    assert (second.name, second.seed) == ("b-2", 7)
    assert second.problem.waypoints[0].tolist() == [2.0, 2.0]
    assert second.problem.goals[-1].tolist() == [7.0, 8.0]


@pytest.mark.parametrize(
    ("text", "name", "sentence"),
    [
        ("[]", "p.json", "it has no problems"),
        ("", "p.jsonl", "it has no problems"),
        ("start_x,start_y,goal_x,goal_y\n", "p.csv", "it has no problems"),
        (f"[{ONE}, 3]", "p.json", "problem 2: it must be an object"),
        (f"{ONE}\n\n{{\n", "p.jsonl", "line 3: Expecting"),
        ("start_x,start_y,goal_x\n1,2,3\n", "p.csv", "lacks ['goal_y']; a table of problems has the columns"),
        ("start_x,start_y,goal_x,goal_y\n1,2,3,4\n1,2,x,4\n", "p.csv", "line 3: could not convert"),
        ("start_x,start_y,goal_x,goal_y\n1,2,3\n", "p.csv", "line 2: nothing stands under ['goal_y']"),
        ("start_x,start_y,goal_x,goal_y,seed\n1,2,3,4,x\n", "p.csv", "line 2: invalid literal"),
        ("start_x,start_y,goal_x,goal_y,seed\n1,2,3,4,-1\n", "p.csv", "line 2: seed must be a whole number"),
        (
            "start_x,start_y,goal_x,goal_y,waypoints\n1,2,3,4,5\n",
            "p.csv",
            "line 2: waypoints must have",
        ),
        ("start_x,start_y,goal_x,goal_y\n1,2,nan,4\n", "p.csv", "line 2: "),
        (f'[{ONE}, {ONE[:-1]}, "name": "../x"}}]', "p.json", "problem 2: '../x' is no name for a plan"),
        (f'[{ONE[:-1]}, "name": "Config"}}]', "p.json", "problem 1: 'Config' is no name"),
        (f'[{ONE[:-1]}, "name": 3}}]', "p.json", "problem 1: 3 is no name"),
        (f"[{SECOND}, {ONE}, {SECOND.replace('b-2', 'B-2')}]", "p.json", "problem 1 and problem 3 are both"),
        (ONE, "p.txt", "problems are read from files that end in .json, .jsonl, .csv"),
    ],
)
def test_a_file_of_problems_that_is_none_says_where_and_why(text, name, sentence, tmp_path):
    with pytest.raises(InvalidProblem) as error:
        load_problems(written(tmp_path, text, name))
    assert sentence in str(error.value)
    assert name in str(error.value)
    assert "\n" not in str(error.value)
