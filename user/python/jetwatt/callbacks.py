# SPDX-License-Identifier: LGPL-2.1-only
"""Callbacks that mark and measure each minibatch of PyTorch Lightning, Hugging Face and Keras.

Importing this module imports none of them. The class LightningCallback, TransformersCallback or
KerasCallback is made when it is used first, from the base class of the library that the program has
imported, or else of the one that is installed. A callback has the member `steps`, a jetwatt.Steps,
and takes the arguments of jetwatt.Steps.

A step is the time between two calls of the library in the program's own thread. Work that the GPU
does after the end of a step does not count for this step.
"""
import importlib
import sys
from typing import Any, Callable, Dict, Tuple

from .errors import JetwattError
from .steps import Steps


def _lightning(base: Any) -> Any:
    # Signatures: lightning.pytorch.callbacks.Callback (docs: "Callback API", hooks).
    class LightningCallback(base):  # type: ignore[misc]
        """For lightning.Trainer(callbacks=[...])."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__()
            self.steps = Steps(*args, **kwargs)

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            self.steps.start()

        def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
            self.steps.begin()

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any,
                               batch_idx: int) -> None:
            self.steps.end()

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            self.steps.stop()

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            self.steps.stop()

    return LightningCallback


def _transformers(base: Any) -> Any:
    # Signatures: transformers.TrainerCallback (docs: "Callbacks", TrainerCallback).
    class TransformersCallback(base):  # type: ignore[misc]
        """For transformers.Trainer(callbacks=[...]). A step is one of the optimizer."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__()
            self.steps = Steps(*args, **kwargs)

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.steps.start()

        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.steps.begin()

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.steps.end()

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.steps.stop()

    return TransformersCallback


def _keras(base: Any) -> Any:
    # Signatures: keras.callbacks.Callback (docs: "Base Callback class").
    class KerasCallback(base):  # type: ignore[misc]
        """For model.fit(callbacks=[...])."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__()
            self.steps = Steps(*args, **kwargs)

        def on_train_begin(self, logs: Any = None) -> None:
            self.steps.start()

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            self.steps.begin()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.steps.end()

        def on_train_end(self, logs: Any = None) -> None:
            self.steps.stop()

    return KerasCallback


_CLASSES: Dict[str, Tuple[Callable[[Any], Any], Tuple[str, ...], str]] = {
    "LightningCallback": (_lightning, ("lightning.pytorch.callbacks:Callback",
                                       "pytorch_lightning.callbacks:Callback"), "lightning"),
    "TransformersCallback": (_transformers, ("transformers:TrainerCallback",), "transformers"),
    "KerasCallback": (_keras, ("keras.callbacks:Callback", "tensorflow.keras.callbacks:Callback"), "keras"),
}
__all__ = list(_CLASSES)


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    make, places, package = _CLASSES[name]
    # Prefer the library that the program has already imported.
    for place in sorted(places, key=lambda p: p.split(".")[0].split(":")[0] not in sys.modules):
        module, _, base = place.partition(":")
        try:
            made = make(getattr(importlib.import_module(module), base))
        except (ImportError, AttributeError):
            continue
        made.__qualname__, made.__module__ = name, __name__
        globals()[name] = made
        return made
    raise JetwattError("no base class for jetwatt.callbacks.%s" % name,
                       "none of these can be imported: " + ", ".join(p.partition(":")[0] for p in places),
                       "pip install %s" % package)
