"""`chronoforest view` on a world without weights whose plans take their time; run as a process of its own.

The argument is the number of seconds after which an idle connection is closed.
"""

import sys

from fakes import make_planner
from viewer_service import SlowPlanner

from chronoforest.cli import main
from chronoforest.presets import loading
from chronoforest.view import server

server.IDLE_SECONDS = float(sys.argv[1])
loading.load_planner = lambda name, **options: SlowPlanner(make_planner(), 0.2)
sys.exit(main(["view", "--no-open-page"]))
