"""`chronoforest view` on a world without weights whose plans take their time; run as a process of its own.

The argument is the number of seconds after which an idle connection is closed.
"""

import sys

from fakes import make_planner
from viewer_service import SlowPlanner, worlds_of

from chronoforest.cli import main
from chronoforest.service import server, worlds

server.IDLE_SECONDS = float(sys.argv[1])
served = worlds_of(worlds.World("fake", SlowPlanner(make_planner(), 0.2)))
worlds.Worlds = lambda choice: served
sys.exit(main(["view", "--no-open-page"]))
