"""Train a small model where there is no compiler: on core, autodiff, mapping and numpy alone.

Run by `nox -s minimal` in an environment without jaxlib. The task is to tell three interleaved
spirals apart. The loss is written for one example; `xmap` names the batch, and `reduce_axes` asks
for the gradient of the total over it.
"""

from __future__ import annotations

import importlib.util
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import axonym_numpy as anp
from axonym_autodiff import value_and_grad
from axonym_core import lax
from axonym_core.arrays import backends
from axonym_core.trees import tree_map
from axonym_mapping import xmap
from axonym_numpy import nn

CLASSES = 3
STEPS = 200
LEARNING_RATE = 0.02
MOMENTUM = 0.9
REQUIRED = 0.95

Params = dict[str, Any]


def spirals(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points of three spirals with a little noise, and which spiral each is of."""
    labels = rng.integers(0, CLASSES, count)
    radius = rng.uniform(0.1, 1.0, count)
    angle = 4.0 * radius + 2 * np.pi * labels / CLASSES + rng.normal(0, 0.1, count)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points.astype(np.float32), labels.astype(np.int32)


def initial(sizes: tuple[int, ...], rng: np.random.Generator) -> list[Params]:
    """Weights and biases of a network with these layer sizes."""
    return [
        {
            "w": anp.asarray(rng.normal(0, np.sqrt(2 / m), (m, n)).astype(np.float32)),
            "b": anp.zeros(n),
        }
        for m, n in pairwise(sizes)
    ]


def logits_of(params: list[Params], x: Any) -> Any:
    """What the network says of one example."""
    for layer in params[:-1]:
        x = nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss(params: list[Params], x: Any, y: Any) -> Any:
    """Mean cross entropy over the axis `batch`, and how many of the answers are right."""
    log_p = nn.log_softmax(logits_of(params, x))
    right = (anp.argmax(log_p) == y).astype(anp.float32)
    return lax.pmean(-log_p[y], "batch"), lax.pmean(right, "batch")


@partial(xmap, in_axes=({}, {0: "batch"}, {0: "batch"}), out_axes={})
def gradients(params: list[Params], x: Any, y: Any) -> Any:
    """Value and gradient of the mean loss: nothing that comes out varies over the batch."""
    return value_and_grad(loss, has_aux=True, reduce_axes=("batch",))(params, x, y)


def train() -> float:
    """Train; return the accuracy on points that were not trained on."""
    rng = np.random.default_rng(0)
    train_x, train_y = spirals(600, rng)
    test_x, test_y = spirals(300, rng)
    params = initial((2, 32, 32, CLASSES), rng)
    velocity = tree_map(lambda p: p * 0.0, params)
    for step in range(STEPS + 1):
        (value, accuracy), grads = gradients(params, train_x, train_y)
        if step % 50 == 0:
            print(f"step {step:3}  loss {float(value):.4f}  accuracy {float(accuracy):.3f}")
        velocity = tree_map(lambda v, g: MOMENTUM * v + g, velocity, grads)
        params = tree_map(lambda p, v: p - LEARNING_RATE * v, params, velocity)
    (_, accuracy), _ = gradients(params, test_x, test_y)
    return float(accuracy)


def main() -> None:
    """Train, and fail unless the model has learned."""
    compiler = "with" if importlib.util.find_spec("jaxlib") else "without"
    print(f"backend {backends.current().name}, {compiler} jaxlib")
    accuracy = train()
    print(f"accuracy on new points: {accuracy:.3f}")
    assert accuracy >= REQUIRED, f"the accuracy is below {REQUIRED}"


if __name__ == "__main__":
    main()
