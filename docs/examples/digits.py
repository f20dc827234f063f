"""Total and per-example gradients of one loss: handwritten digits.

The loss below speaks of one image. `xmap` maps it over the axis `batch`, and `reduce_axes` says
what its gradient is to be:

- `value_and_grad(loss, reduce_axes=("batch",))` is the gradient of the whole batch: it trains the
  classifier, in the memory of a hand-batched loss (the lookup in a table below would otherwise cost
  a whole table for each image);
- `grad(loss)`, of the very same function, is one gradient for each image: their norms tell which
  digits the trained classifier finds hardest.

Run it with `nox -s demo`, or `python docs/examples/digits.py --output digits.png`. It trains on the
1,797 images that scikit-learn brings along, on whichever backend is installed
(`AXONYM_BACKEND=numpy` for plain NumPy).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import axonym as ax
import axonym.numpy as anp

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # after the choice of a backend without a screen

PIXELS, LEVELS = 64, 17
WIDTHS = (PIXELS, 128, 64, 10)
TABLE_SCALE = 0.1
BATCH = 64
EPOCHS = 25
LEARNING_RATE = 0.1
MOMENTUM = 0.9
HARDEST = 10


class Digits(NamedTuple):
    """Brightness of the pixels, integers from 0 to 16 of shape (n, 64); labels of shape (n,)."""

    images: np.ndarray
    labels: np.ndarray


def load(seed: int) -> tuple[Digits, Digits]:
    """Return the training and the test images."""
    bundle = load_digits()
    images = bundle.data.astype(np.int32)
    labels = bundle.target.astype(np.int32)
    train_x, test_x, train_y, test_y = train_test_split(
        images, labels, test_size=0.2, random_state=seed, stratify=labels
    )
    return Digits(train_x, train_y), Digits(test_x, test_y)


def initial_parameters(key: Any) -> dict[str, Any]:
    """Weights of the layers, and a correction for each brightness of each pixel."""
    layers = []
    for layer_key, n, m in zip(
        ax.random.split(key, len(WIDTHS) - 1), WIDTHS, WIDTHS[1:], strict=False
    ):
        w = ax.random.normal(layer_key, (n, m)) * np.sqrt(2.0 / n)
        layers.append({"w": w, "b": anp.zeros(m)})
    return {"table": anp.zeros((PIXELS * LEVELS, WIDTHS[1])), "layers": layers}


def logits(parameters: dict[str, Any], image: Any) -> Any:
    """Scores of the ten digits for one image."""
    first, *others = parameters["layers"]
    rows = anp.arange(PIXELS) * LEVELS + image
    x = image / LEVELS @ first["w"] + first["b"]
    x = x + TABLE_SCALE * anp.sum(parameters["table"][rows], axis=0)
    for layer in others:
        x = ax.nn.relu(x) @ layer["w"] + layer["b"]
    return x


def loss(parameters: dict[str, Any], image: Any, label: Any) -> Any:
    """Cross-entropy of one image."""
    return -ax.nn.log_softmax(logits(parameters, image))[label]


# One entry for the parameters, which all images share, one each for image and label.
IN_AXES = ([...], ["batch", ...], ["batch", ...])


def total_gradient(parameters: Any, images: Any, labels: Any) -> tuple[Any, Any]:
    """Losses of the images, and the gradient of their sum (shaped as the parameters)."""
    one = ax.value_and_grad(loss, reduce_axes=("batch",))
    return ax.xmap(one, in_axes=IN_AXES, out_axes=(["batch"], [...]))(parameters, images, labels)


def per_example_gradients(parameters: Any, images: Any, labels: Any) -> Any:
    """One gradient for each image: as the parameters, with the batch in front."""
    one = ax.grad(loss)
    return ax.xmap(one, in_axes=IN_AXES, out_axes=["batch", ...])(parameters, images, labels)


def summed_per_example(parameters: Any, images: Any, labels: Any) -> Any:
    """The total gradient in the wasteful way: per example, then summed."""
    gradients = per_example_gradients(parameters, images, labels)
    return ax.tree_util.tree_map(lambda g: anp.sum(g, axis=0), gradients)


@ax.jit
def train_step(state: Any, images: Any, labels: Any) -> tuple[Any, Any]:
    """One step of gradient descent with momentum; returns the state and the mean loss."""
    parameters, velocity = state
    losses, gradients = total_gradient(parameters, images, labels)
    velocity = ax.tree_util.tree_map(
        lambda v, g: MOMENTUM * v - LEARNING_RATE * g / len(images), velocity, gradients
    )
    parameters = ax.tree_util.tree_map(lambda p, v: p + v, parameters, velocity)
    return (parameters, velocity), anp.mean(losses)


@ax.jit
def accuracy(parameters: Any, images: Any, labels: Any) -> Any:
    """Share of images whose best score is that of their label."""
    scores = ax.vmap(logits, in_axes=(None, 0))(parameters, images)
    return anp.mean(anp.argmax(scores, axis=1) == labels)


@ax.jit
def gradient_norms(parameters: Any, images: Any, labels: Any) -> Any:
    """Norm of the gradient of each image's loss, shape (n,)."""
    gradients = ax.tree_util.tree_leaves(per_example_gradients(parameters, images, labels))
    squares = [anp.sum(g.reshape(len(images), -1) ** 2, axis=1) for g in gradients]
    return anp.sqrt(sum(squares))


def train(train_set: Digits, test_set: Digits, seed: int) -> tuple[Any, list[float]]:
    """Train the classifier, showing loss and test accuracy as it goes."""
    parameters = initial_parameters(ax.random.key(seed))
    state = (parameters, ax.tree_util.tree_map(anp.zeros_like, parameters))
    order = np.random.default_rng(seed)
    history: list[float] = []
    bar = tqdm(range(EPOCHS), desc="training", unit="epoch")
    for _ in bar:
        shuffled = order.permutation(len(train_set.images))
        for start in range(0, len(shuffled) - BATCH + 1, BATCH):
            chosen = shuffled[start : start + BATCH]
            state, mean_loss = train_step(state, train_set.images[chosen], train_set.labels[chosen])
            history.append(mean_loss)
        bar.set_postfix(
            loss=f"{float(mean_loss):.4f}",
            accuracy=f"{float(accuracy(state[0], *test_set)):.4f}",
        )
    return state[0], [float(x) for x in history]


def print_memory(parameters: Any, batch: Digits) -> None:
    """Print the temporary memory of the total gradient beside that of per-example-then-sum."""
    sizes = {}
    for name, function in (("total", total_gradient), ("per example", summed_per_example)):
        analysis = ax.jit(function).lower(parameters, *batch).compile().memory_analysis()
        if analysis is None:
            print("temporary memory: not known to this backend")
            return
        sizes[name] = analysis.temp_size_in_bytes
    print(
        f"temporary memory for a batch of {len(batch.images)}: "
        f"{sizes['total'] / 1e6:.2f} MB for the total gradient, "
        f"{sizes['per example'] / 1e6:.2f} MB for per-example gradients, then summed "
        f"({sizes['per example'] / max(sizes['total'], 1):.0f} times as much)"
    )


def draw(
    path: Path, history: list[float], norms: np.ndarray, test_set: Digits, guesses: np.ndarray
) -> None:
    """Write the picture: loss curve, gradient norms, the hardest images."""
    figure = plt.figure(figsize=(11, 7), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(3, 2))
    curve, bars = upper.subplots(1, 2)
    curve.plot(history, linewidth=0.8)
    curve.set(title="training loss", xlabel="step", ylabel="cross-entropy", yscale="log")
    wrong = guesses != test_set.labels
    order = np.argsort(norms)[::-1]
    position = np.arange(len(norms))
    bars.bar(position, norms[order], width=1.0, color=np.where(wrong[order], "tab:red", "tab:blue"))
    bars.set(
        title="gradient norm of each test image (red: misread)",
        xlabel="test images, hardest first",
        ylabel="norm",
        yscale="log",
    )
    lower.suptitle(f"the {HARDEST} hardest test images by gradient norm")
    for axes, i in zip(lower.subplots(1, HARDEST), order[:HARDEST], strict=True):
        axes.imshow(test_set.images[i].reshape(8, 8), cmap="gray_r")
        axes.set_title(f"{test_set.labels[i]}, read {guesses[i]}", fontsize=9)
        axes.axis("off")
    figure.savefig(path, dpi=120)


def main() -> None:
    """Train, find the hardest digits, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("digits.png"))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    train_set, test_set = load(options.seed)
    start = time.perf_counter()
    parameters, history = train(train_set, test_set, options.seed)
    final = float(accuracy(parameters, *test_set))
    print(f"test accuracy {final:.4f} after {time.perf_counter() - start:.1f} s")

    norms = np.asarray(gradient_norms(parameters, *test_set))
    guesses = np.asarray(
        anp.argmax(ax.vmap(logits, in_axes=(None, 0))(parameters, test_set.images), axis=1)
    )
    hardest = np.argsort(norms)[::-1][:HARDEST]
    print(
        "hardest test images (index: digit, read as, gradient norm): "
        + "; ".join(f"{i}: {test_set.labels[i]}, {guesses[i]}, {norms[i]:.1f}" for i in hardest)
    )
    print_memory(parameters, Digits(*[x[:256] for x in train_set]))
    draw(options.output, history, norms, test_set, guesses)
    print(f"picture written to {options.output}")
    if final < 0.96:
        raise SystemExit(f"test accuracy {final:.4f} is below 0.96")


if __name__ == "__main__":
    main()
