"""`chronoforest view`: watch and steer the planner in the browser."""

from __future__ import annotations

from functools import partial
from pathlib import Path


def view(
    preset: str = "pointmaze-giant-stitch-v0",
    port: int = 0,
    weights: Path | None = None,
    device: str = "cpu",
    open_page: bool = True,
) -> None:
    """Serve a page on this machine alone, on which problems are drawn, planned, replayed and walked.

    Args:
        preset: one of the named configurations, or one of your own.
        port: where to listen; 0 takes any free one.
        weights: folder of trained models; those of the package unless told.
        device: cpu or cuda.
        open_page: open the page in the default browser.
    """
    import webbrowser

    from chronoforest.errors import CannotListen
    from chronoforest.modules import require
    from chronoforest.peers.choice import PlannerChoice

    PlannerChoice(preset, weights=weights, device=device).check()
    if not 0 <= port < 2**16:
        raise CannotListen(f"cannot listen on port {port}: ports end at 65535; --port 0 takes any free one")
    require("view")
    import torch

    from chronoforest.presets.loading import load_planner
    from chronoforest.view.server import listen, serve
    from chronoforest.view.world import ServedPreset

    torch.set_num_threads(1)
    listener = listen(port)
    load = partial(load_planner, preset, device=device, weights=weights)
    served = ServedPreset({"default": load(), "fast": load(mode="fast")})

    def on_ready(address: str) -> None:
        print(f"{preset} is at {address}  (ctrl-C ends)", flush=True)
        if open_page:
            webbrowser.open(address)

    serve(served, listener, on_ready)
    print("the viewer has ended")
