"""`chronoforest serve`: routes, plans and the page over HTTP; `chronoforest view` opens its page."""

from __future__ import annotations

from pathlib import Path


def serve(
    preset: str,
    port: int = 5000,
    weights: Path | None = None,
    device: str = "cpu",
    allow_origin: tuple[str, ...] = (),
    open_page: bool = False,
) -> None:
    """Answer OSRM's and VROOM's requests on this machine over what a preset has learned, and serve a page on
    which problems are drawn and planned. A world that is learned anew meanwhile is taken over, and no request
    is lost.

    Args:
        preset: one of the named configurations, one of your own, or a road network's file.
        port: where to listen; 0 takes any free one.
        weights: folder of trained models; the preset's own unless given.
        device: cpu or cuda.
        allow_origin: pages of other addresses that may ask too, such as http://127.0.0.1:8000.
        open_page: open the page in the default browser.
    """
    import webbrowser

    from chronoforest.errors import CannotListen
    from chronoforest.names import require
    from chronoforest.peers.choice import PlannerChoice

    choice = PlannerChoice(preset, weights=weights, device=device)
    if not preset.endswith(".npz"):
        choice.check()
    if not 0 <= port < 2**16:
        raise CannotListen(f"cannot listen on port {port}: ports end at 65535; --port 0 takes any free one")
    require("view")
    from chronoforest.service import server
    from chronoforest.service.worlds import Worlds

    worlds, listener = Worlds(choice), server.listen(port)

    def on_ready(address: str) -> None:
        print(f"{preset} is at {address}  (ctrl-C ends)", flush=True)
        if open_page:
            webbrowser.open(address)

    server.serve(worlds, listener, on_ready, allow_origin)
    print("the service has ended")


def view(
    preset: str = "point-giant",
    port: int = 0,
    weights: Path | None = None,
    device: str = "cpu",
    open_page: bool = True,
) -> None:
    """Open the page of a world in the browser; `serve` serves the same.

    Args:
        preset: one of the named configurations, or one of your own.
        port: where to listen; 0 takes any free one.
        weights: folder of trained models; the preset's own unless given.
        device: cpu or cuda.
        open_page: open the page in the default browser.
    """
    serve(preset, port, weights, device, open_page=open_page)
