"""Where work runs: in processes of this machine, or on many machines with Ray."""

from chronoforest.engines.choice import EngineChoice
from chronoforest.engines.local import LocalEngine
from chronoforest.engines.protocol import Answer, Engine, Places

__all__ = ["Answer", "Engine", "EngineChoice", "LocalEngine", "Places"]
