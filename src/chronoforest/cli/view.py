"""`chronoforest view`: watch and steer the planner in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Literal


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

    import torch

    from chronoforest.presets.loading import load_planner
    from chronoforest.view.server import Stage, listen, serve

    torch.set_num_threads(1)
    listener = listen(port)
    modes: tuple[Literal["default", "fast"], ...] = ("default", "fast")
    stage = Stage.of(
        {mode: load_planner(preset, device=device, weights=weights, mode=mode) for mode in modes}
    )

    def on_ready(address: str) -> None:
        print(f"{preset} is at {address}  (ctrl-C ends)", flush=True)
        if open_page:
            webbrowser.open(address)

    serve(stage, listener, on_ready)
