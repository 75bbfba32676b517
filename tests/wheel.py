"""What a new user does first, run by `make wheel` with the wheel alone: plan in a world that ships, without
physics, video or a viewer."""

import sys
from importlib.metadata import distributions
from importlib.util import find_spec
from tempfile import TemporaryDirectory

from chronoforest.cli import main

NOT_NEEDED = ("mujoco", "ogbench", "gymnasium", "joblib", "imageio_ffmpeg", "fastapi", "uvicorn", "ray")

PLAN = [
    "--preset",
    "point-giant",
    "--starts",
    "0,0 0,36",
    "--goals",
    "52,36 52,0",
    "--waypoints",
    "16,0 20,16",
]


def run() -> int:
    """0 when the plan is complete, and what only extras bring is told about in a sentence."""
    assert not [name for name in NOT_NEEDED if find_spec(name)], (
        "the environment has more than planning needs"
    )
    with TemporaryDirectory() as folder:
        code = main(["plan", *PLAN, "--out", folder])
        refused = [main(["demo", "--out", folder]), main(["view"])]
    print(f"planned with {len(list(distributions()))} packages")
    return code or int(refused != [2, 2])


if __name__ == "__main__":
    sys.exit(run())
