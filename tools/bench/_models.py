"""The programs that are measured: four models and an embedding, written once for both sides.

A `Workload` holds NumPy parameters, a NumPy batch and a recipe that builds the loss out of a
`Namespace`. The models are written in the way their users write them: layers in a Python loop over
a list of parameter dicts, ``einsum`` and ``@``, a softmax and a layer norm spelled out or taken
from ``nn``. Every loss accepts a batch with or without its leading batch dimension (but for the
recurrent one), so the same text serves as the hand-batched loss and as the loss of one example.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ._namespace import Namespace
from ._settings import Settings, TransformerSize

Loss = Callable[..., Any]
Step = Callable[..., tuple[Any, Any]]
_RATE = 0.01


@dataclass(frozen=True)
class Workload:
    """A model to train: parameters, one batch and the loss.

    Attributes:
        parameters: Tree of NumPy arrays, ``float32``.
        batch: The loss's further arguments, each with a leading batch dimension.
        build_loss: Makes ``loss(parameters, *batch)``, a scalar mean, from one side's functions.
    """

    parameters: Any
    batch: tuple[Any, ...]
    build_loss: Callable[[Namespace], Loss]

    def build_step(self, ns: Namespace) -> Step:
        """Return a new function for one step of gradient descent, ``(parameters, loss)``.

        Each call gives another function object, so that no cache keyed by function answers.
        """
        value_and_grad = ns.value_and_grad(self.build_loss(ns))

        def step(parameters: Any, *batch: Any) -> tuple[Any, Any]:
            loss, gradient = value_and_grad(parameters, *batch)
            return ns.tree_map(lambda p, g: p - _RATE * g, parameters, gradient), loss

        return step

    def arguments(self, ns: Namespace) -> tuple[Any, ...]:
        """Return parameters and batch as arrays of one side."""
        return (ns.arrays(self.parameters), *(ns.arrays(part) for part in self.batch))


def _normal(rng: np.random.Generator, *shape: int) -> np.ndarray[Any, Any]:
    """Draw a weight whose fan-in is everything but its last dimension."""
    fan_in = max(1, math.prod(shape[:-1]))
    return (rng.standard_normal(shape) / math.sqrt(fan_in)).astype(np.float32)


def _zeros(*shape: int) -> np.ndarray[Any, Any]:
    return np.zeros(shape, np.float32)


def _labels(rng: np.random.Generator, classes: int, *shape: int) -> np.ndarray[Any, Any]:
    return rng.integers(classes, size=shape).astype(np.int32)


def _cross_entropy(ns: Namespace, logits: Any, labels: Any) -> Any:
    log_probabilities = ns.nn.log_softmax(logits, axis=-1)
    return -ns.xp.mean(ns.xp.take_along_axis(log_probabilities, labels[..., None], axis=-1))


def mlp(batch: int = 128, widths: tuple[int, ...] = (784, 512, 512, 10)) -> Workload:
    """A multi-layer perceptron on vectors ``(batch, widths[0])`` with integer labels."""
    rng = np.random.default_rng(0)
    parameters = [
        {"w": _normal(rng, n_in, n_out), "b": _zeros(n_out)} for n_in, n_out in pairwise(widths)
    ]
    images = rng.standard_normal((batch, widths[0])).astype(np.float32)

    def build_loss(ns: Namespace) -> Loss:
        def loss(parameters: Any, x: Any, labels: Any) -> Any:
            *hidden, last = parameters
            for layer in hidden:
                x = ns.nn.relu(x @ layer["w"] + layer["b"])
            return _cross_entropy(ns, x @ last["w"] + last["b"], labels)

        return loss

    return Workload(parameters, (images, _labels(rng, widths[-1], batch)), build_loss)


def cnn(batch: int = 64, side: int = 28, channels: tuple[int, ...] = (1, 16, 32, 64)) -> Workload:
    """Convolutions, each halving images ``(batch, side, side, 1)``, and a mean over the pixels."""
    rng = np.random.default_rng(1)
    kernels = [
        {"w": _normal(rng, 3, 3, n_in, n_out), "b": _zeros(n_out)}
        for n_in, n_out in pairwise(channels)
    ]
    parameters = {"kernels": kernels, "w": _normal(rng, channels[-1], 10), "b": _zeros(10)}
    images = rng.standard_normal((batch, side, side, channels[0])).astype(np.float32)

    def build_loss(ns: Namespace) -> Loss:
        def loss(parameters: Any, x: Any, labels: Any) -> Any:
            # A convolution wants a batch dimension, be it of one example.
            x, labels = x.reshape((-1, *x.shape[-3:])), labels.reshape(-1)
            for kernel in parameters["kernels"]:
                x = ns.lax.conv_general_dilated(
                    x,
                    kernel["w"],
                    window_strides=(2, 2),
                    padding="SAME",
                    dimension_numbers=("NHWC", "HWIO", "NHWC"),
                )
                x = ns.nn.relu(x + kernel["b"])
            pooled = ns.xp.mean(x, axis=(1, 2))
            return _cross_entropy(ns, pooled @ parameters["w"] + parameters["b"], labels)

        return loss

    return Workload(parameters, (images, _labels(rng, 10, batch)), build_loss)


def rnn(batch: int = 32, length: int = 64, width: int = 128, inputs: int = 32) -> Workload:
    """A tanh cell scanned over sequences ``(length, batch, inputs)``, a label per time step."""
    rng = np.random.default_rng(2)
    parameters = {
        "input": _normal(rng, inputs, width),
        "state": _normal(rng, width, width),
        "b": _zeros(width),
        "output": _normal(rng, width, 10),
    }
    sequences = rng.standard_normal((length, batch, inputs)).astype(np.float32)

    def build_loss(ns: Namespace) -> Loss:
        def loss(parameters: Any, sequences: Any, labels: Any) -> Any:
            def cell(state: Any, x: Any) -> tuple[Any, Any]:
                mixed = x @ parameters["input"] + state @ parameters["state"] + parameters["b"]
                state = ns.xp.tanh(mixed)
                return state, state

            start = ns.xp.zeros((sequences.shape[1], width), sequences.dtype)
            _, states = ns.lax.scan(cell, start, sequences)
            return _cross_entropy(ns, states @ parameters["output"], labels)

        return loss

    return Workload(parameters, (sequences, _labels(rng, 10, length, batch)), build_loss)


def transformer(size: TransformerSize, *, nested: bool = False) -> Workload:
    """A decoder-only transformer on tokens ``(batch, length)`` that predicts the next token.

    Args:
        size: Width, heads, length, batch, vocabulary and number of layers.
        nested: Whether the layer function is wrapped in ``jit``; otherwise no ``jit`` appears
            in the program.
    """
    rng = np.random.default_rng(3)
    width = size.width
    parameters = {
        "tokens": _normal(rng, size.vocabulary, width),
        "positions": _normal(rng, size.length, width),
        "layers": [_transformer_layer(rng, width) for _ in range(size.layers)],
        "norm": {"scale": _zeros(width) + 1, "offset": _zeros(width)},
    }
    text = _labels(rng, size.vocabulary, size.batch, size.length + 1)

    def build_loss(ns: Namespace) -> Loss:
        xp = ns.xp

        def layer_norm(p: Mapping[str, Any], x: Any) -> Any:
            centred = x - xp.mean(x, axis=-1, keepdims=True)
            variance = xp.mean(centred**2, axis=-1, keepdims=True)
            return centred * ns.lax.rsqrt(variance + 1e-5) * p["scale"] + p["offset"]

        def attention(p: Mapping[str, Any], x: Any) -> Any:
            b = "b" * (x.ndim - 2)
            shape = (*x.shape[:-1], size.heads, width // size.heads)
            q, k, v = (part.reshape(shape) for part in xp.split(x @ p["qkv"], 3, axis=-1))
            scores = xp.einsum(f"{b}thd,{b}shd->{b}hts", q, k) / np.sqrt(shape[-1])
            causal = xp.tril(xp.ones((size.length, size.length), dtype=bool))
            weights = ns.nn.softmax(xp.where(causal, scores, -1e9), axis=-1)
            mixed = xp.einsum(f"{b}hts,{b}shd->{b}thd", weights, v)
            return mixed.reshape(x.shape) @ p["out"]

        def layer(p: Mapping[str, Any], x: Any) -> Any:
            x = x + attention(p, layer_norm(p["norm1"], x))
            hidden = ns.nn.gelu(layer_norm(p["norm2"], x) @ p["up"] + p["up_bias"])
            return x + hidden @ p["down"] + p["down_bias"]

        layer_function = ns.jit(layer) if nested else layer

        def loss(parameters: Any, tokens: Any, targets: Any) -> Any:
            x = parameters["tokens"][tokens] + parameters["positions"]
            for p in parameters["layers"]:
                x = layer_function(p, x)
            x = layer_norm(parameters["norm"], x)
            return _cross_entropy(ns, x @ parameters["tokens"].T, targets)

        return loss

    return Workload(parameters, (text[:, :-1], text[:, 1:]), build_loss)


def _transformer_layer(rng: np.random.Generator, width: int) -> dict[str, Any]:
    norm = {"scale": _zeros(width) + 1, "offset": _zeros(width)}
    return {
        "norm1": norm,
        "qkv": _normal(rng, width, 3 * width),
        "out": _normal(rng, width, width),
        "norm2": norm,
        "up": _normal(rng, width, 4 * width),
        "up_bias": _zeros(4 * width),
        "down": _normal(rng, 4 * width, width),
        "down_bias": _zeros(width),
    }


def embedding(rows: int, columns: int, batch: int, length: int = 8) -> Workload:
    """A table ``(rows, columns)`` of which each example looks up ``length`` rows."""
    rng = np.random.default_rng(4)
    parameters = {"table": _normal(rng, rows, columns), "w": _normal(rng, columns, 10)}

    def build_loss(ns: Namespace) -> Loss:
        def loss(parameters: Any, words: Any, labels: Any) -> Any:
            pooled = ns.xp.mean(parameters["table"][words], axis=-2)
            return _cross_entropy(ns, pooled @ parameters["w"], labels)

        return loss

    words = _labels(rng, rows, batch, length)
    return Workload(parameters, (words, _labels(rng, 10, batch)), build_loss)


def workload(name: str, settings: Settings) -> Workload:
    """Return the workload that a row names, in the sizes of the run.

    Raises:
        KeyError: If there is no such workload.
    """
    batch = settings.memory_batch
    shallow = TransformerSize(width=64, length=32, batch=16, layers=2)
    makers: dict[str, Callable[[], Workload]] = {
        "mlp": mlp,
        "cnn": cnn,
        "rnn": rnn,
        "transformer": lambda: transformer(settings.transformer),
        "mlp-memory": lambda: mlp(batch),
        "cnn-memory": lambda: cnn(batch),
        "transformer-memory": lambda: transformer(shallow),
        "embedding-memory": lambda: embedding(*settings.embedding, batch),
    }
    return makers[name]()
