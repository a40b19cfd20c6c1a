# SPDX-License-Identifier: GPL-2.0-only
"""Stand-ins for the training libraries, with the documented signatures of their callbacks.

- lightning.pytorch.callbacks.Callback: on_train_start(self, trainer, pl_module),
  on_train_batch_start(self, trainer, pl_module, batch, batch_idx), on_train_batch_end(self, trainer,
  pl_module, outputs, batch, batch_idx), on_train_end(self, trainer, pl_module), on_exception(self,
  trainer, pl_module, exception). The trainer calls the hooks with positional arguments
  (_call_callback_hooks() in lightning/pytorch/trainer/call.py).
- transformers.TrainerCallback: on_EVENT(self, args, state, control, **kwargs); the trainer passes
  model, optimizer and others by keyword (CallbackHandler.call_event() in trainer_callback.py).
- keras.callbacks.Callback: on_train_begin(self, logs=None), on_train_batch_begin(self, batch,
  logs=None), on_train_batch_end(self, batch, logs=None), on_train_end(self, logs=None); CallbackList
  calls set_params() and set_model() first (callback_list.py).

A trainer calls every hook, also those that a callback does not override, as the libraries do.
"""
import sys
import types


class LightningBase:
    """lightning.pytorch.callbacks.Callback"""

    def on_train_start(self, trainer, pl_module): pass
    def on_train_epoch_start(self, trainer, pl_module): pass
    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx): pass
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx): pass
    def on_train_epoch_end(self, trainer, pl_module): pass
    def on_train_end(self, trainer, pl_module): pass
    def on_exception(self, trainer, pl_module, exception): pass


class LightningTrainer:
    """lightning.pytorch.Trainer: fit() calls model.training_step(batch, batch_idx)."""

    def __init__(self, max_epochs=1, callbacks=()):
        self.max_epochs, self.callbacks = max_epochs, list(callbacks)

    def call(self, hook, *args):
        for c in self.callbacks:
            assert isinstance(c, LightningBase)
            getattr(c, hook)(self, *args)

    def fit(self, model, batches):
        try:
            self.call("on_train_start", model)
            for _ in range(self.max_epochs):
                self.call("on_train_epoch_start", model)
                for i, batch in enumerate(batches):
                    self.call("on_train_batch_start", model, batch, i)
                    out = model.training_step(batch, i)
                    self.call("on_train_batch_end", model, out, batch, i)
                self.call("on_train_epoch_end", model)
            self.call("on_train_end", model)
        except Exception as e:
            self.call("on_exception", model, e)
            raise


class TransformersBase:
    """transformers.TrainerCallback"""

    def on_init_end(self, args, state, control, **kwargs): pass
    def on_train_begin(self, args, state, control, **kwargs): pass
    def on_epoch_begin(self, args, state, control, **kwargs): pass
    def on_step_begin(self, args, state, control, **kwargs): pass
    def on_step_end(self, args, state, control, **kwargs): pass
    def on_epoch_end(self, args, state, control, **kwargs): pass
    def on_train_end(self, args, state, control, **kwargs): pass


class TransformersTrainer:
    """transformers.Trainer: calls model(batch) for each step."""

    def __init__(self, model, train_dataset, callbacks=()):
        self.model, self.data, self.callbacks = model, train_dataset, list(callbacks)
        self.call("on_init_end")

    def call(self, event):
        for c in self.callbacks:
            assert isinstance(c, TransformersBase)
            getattr(c, event)(object(), object(), object(), model=self.model, optimizer=None)

    def train(self):
        self.call("on_train_begin")
        self.call("on_epoch_begin")
        for batch in self.data:
            self.call("on_step_begin")
            self.model(batch)
            self.call("on_step_end")
        self.call("on_epoch_end")
        self.call("on_train_end")


class KerasBase:
    """keras.callbacks.Callback"""

    def set_params(self, params): self.params = params
    def set_model(self, model): self.model = model
    def on_train_begin(self, logs=None): pass
    def on_epoch_begin(self, epoch, logs=None): pass
    def on_train_batch_begin(self, batch, logs=None): pass
    def on_train_batch_end(self, batch, logs=None): pass
    def on_epoch_end(self, epoch, logs=None): pass
    def on_train_end(self, logs=None): pass


class KerasModel:
    """keras.Model: fit() calls train_step(batch)."""

    def __init__(self, train_step):
        self.train_step = train_step

    def fit(self, batches, epochs=1, callbacks=()):
        for c in callbacks:
            assert isinstance(c, KerasBase)
            c.set_params({"epochs": epochs})
            c.set_model(self)
            c.on_train_begin(logs={})
        for epoch in range(epochs):
            for c in callbacks:
                c.on_epoch_begin(epoch, {})
            for i, batch in enumerate(batches):
                for c in callbacks:
                    c.on_train_batch_begin(i, logs={})
                self.train_step(batch)
                for c in callbacks:
                    c.on_train_batch_end(i, logs={"loss": 0.0})
            for c in callbacks:
                c.on_epoch_end(epoch, {})
        for c in callbacks:
            c.on_train_end(logs={})


def install():
    """Let the stand-ins be found by import."""
    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        sys.modules[name] = made
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, made)

    module("lightning")
    module("lightning.pytorch", Trainer=LightningTrainer)
    sys.modules["lightning"].Trainer = LightningTrainer
    module("lightning.pytorch.callbacks", Callback=LightningBase)
    module("transformers", TrainerCallback=TransformersBase, Trainer=TransformersTrainer)
    module("keras", Model=KerasModel)
    module("keras.callbacks", Callback=KerasBase)
