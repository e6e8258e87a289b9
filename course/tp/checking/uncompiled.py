"""torch without its compiler, for processes that compile nothing and are started often."""

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

COMPILER = "torch._dynamo"


class _Uncompiled(ModuleType):
    """Stands in the compiler's place, and goes when anything else of it is wanted."""

    @staticmethod
    def disable(function: Callable[..., Any], *args: Any, **options: Any) -> Callable[..., Any]:
        return function

    @staticmethod
    def graph_break() -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # who only looks around
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def keep_uncompiled() -> None:
    """From now on the first optimizer does not import the compiler, a second of work, to say that it is not used."""
    sys.modules.setdefault(COMPILER, _Uncompiled(COMPILER))
