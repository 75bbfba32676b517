"""`chronoforest view`: watch and steer the planner in the browser."""

from __future__ import annotations

from pathlib import Path


def view(
    preset: str = "pointmaze-giant-stitch-v0",
    port: int = 0,
    weights: Path | None = None,
    device: str = "cpu",
    overlay: Path | None = None,
    open_page: bool = True,
) -> None:
    """Serve a page on this machine alone, on which problems are drawn, planned, replayed and walked.

    Args:
        preset: one of the named configurations, or one of your own.
        port: where to listen; 0 takes any free one.
        weights: folder of trained models; those of the package unless told.
        device: cpu or cuda.
        overlay: GeoJSON to draw over the map, such as streets, in the coordinates of the recordings.
        open_page: open the page in the default browser.
    """
    import webbrowser

    from chronoforest.errors import CannotListen
    from chronoforest.modules import require
    from chronoforest.peers.choice import PlannerChoice

    choice = PlannerChoice(preset, weights=weights, device=device)
    choice.check()
    if not 0 <= port < 2**16:
        raise CannotListen(f"cannot listen on port {port}: ports end at 65535; --port 0 takes any free one")
    require("view")
    from chronoforest.view.opening import open_worlds
    from chronoforest.view.server import listen, serve

    worlds = open_worlds(choice, overlay)
    listener = listen(port)

    def on_ready(address: str) -> None:
        print(f"{preset} is at {address}  (ctrl-C ends)", flush=True)
        if open_page:
            webbrowser.open(address)

    serve(worlds, listener, on_ready)
    print("the viewer has ended")
