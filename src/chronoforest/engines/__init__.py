"""Where work runs: in processes of this machine, or on many machines with Ray."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chronoforest.engines.local import LocalEngine
from chronoforest.engines.work import Answer, Engine, Places
from chronoforest.errors import InvalidParameter, require_at_least
from chronoforest.names import require

__all__ = ["Answer", "Engine", "EngineChoice", "LocalEngine", "Places"]


@dataclass(frozen=True)
class EngineChoice:
    """Where work runs.

    Args:
        workers: processes with one thread each; unless given one, all cores for recording a dataset, and on
            Ray as many as there is room for.
        engine: local for this machine, or ray for many.
        address: of the Ray cluster: auto for the one this machine is in, HOST:6379 or ray://HOST:10001; one
            of this machine alone is started unless told.
        gpus_per_worker: share of a GPU that a worker on Ray takes, such as 0.125.
    """

    workers: int | None = None
    engine: Literal["local", "ray"] = "local"
    address: str | None = None
    gpus_per_worker: float = 0.0

    def check(self, device: str = "cpu") -> None:
        """Refuse what cannot be run, before anything is imported that takes time."""
        require_at_least(self, 1, "workers")
        if self.engine == "ray":
            from chronoforest.engines.cluster import check_gpus

            require("ray")
            check_gpus(self.gpus_per_worker)
            if device.startswith("cuda") and not self.gpus_per_worker:
                raise InvalidParameter("--device cuda on Ray needs --gpus-per-worker, such as 1 or 0.125")
        elif self.address is not None or self.gpus_per_worker:
            raise InvalidParameter("--address and --gpus-per-worker are for Ray; add --engine ray")

    @property
    def is_plain(self) -> bool:
        """Whether nothing is asked for."""
        return self == EngineChoice()

    def make(self, modules: tuple[str, ...] = ()) -> Engine:
        """The engine; modules: those that nodes may lack, by name."""
        if self.engine == "ray":
            from chronoforest.engines.cluster import RayEngine

            return RayEngine(self.address, self.workers, self.gpus_per_worker, modules)
        return LocalEngine(self.workers or 1)
