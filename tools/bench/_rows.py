"""The rows of the table: what is measured, how it is judged and what is not measured yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ._bench import Bench, Pair

Unit = Literal["s", "B", "times", "count"]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        name: Short name, for ``--only`` and for the JSON record.
        what: What is measured, in words.
        target: The most that the judged value may be.
        measure: Gets the figures of both sides.
        unit: Unit of the figures.
        judged: Whether the ratio ours / theirs is judged or our figure alone.
        missing: Why the row cannot be measured yet; nothing runs if this is set.
    """

    name: str
    what: str
    target: float
    measure: Callable[[Bench], Pair] | None = None
    unit: Unit = "s"
    judged: Literal["ratio", "ours"] = "ratio"
    missing: str = ""


ROWS: tuple[Row, ...] = (
    Row("import", "import the library and its array module", 0.5, Bench.imports),
    Row("dispatch-scalar", "call a jitted f(scalar)", 1.0, lambda b: b.calls("dispatch-scalar")),
    Row(
        "dispatch-tree",
        "call a jitted f(dict of 200 leaves), same tree out",
        0.9,
        lambda b: b.calls("dispatch-tree"),
    ),
    Row("eager-add", "x + x, outside jit", 1.0, lambda b: b.calls("eager-add")),
    Row("eager-index", "x[3], outside jit", 0.3, lambda b: b.calls("eager-index")),
    Row("eager-sum", "sum(v), outside jit", 1.0, lambda b: b.calls("eager-sum")),
    Row(
        "eager-grad",
        "grad(lambda x: sin(x) * x)(1.0), outside jit",
        0.3,
        lambda b: b.calls("eager-grad"),
    ),
    Row(
        "trace",
        "trace a transformer's step, first in its process",
        0.5,
        lambda b: b.staging("trace"),
    ),
    Row("trace-again", "the same, later", 0.5, lambda b: b.staging("trace-again")),
    Row("lower", "lower it, first in its process", 0.5, lambda b: b.staging("lower")),
    Row("lower-again", "the same, later", 0.5, lambda b: b.staging("lower-again")),
    Row("compile", "compile it, layers in a loop", 0.35, lambda b: b.compiling(nested=False)),
    Row(
        "compile-growth",
        "growth of that at four times the layers",
        1.5,
        lambda b: b.compile_growth(nested=False),
        "times",
        "ours",
    ),
    Row(
        "compile-nested",
        "compile it, jit around the layer function",
        0.35,
        lambda b: b.compiling(nested=True),
    ),
    Row(
        "compile-nested-growth",
        "growth of that at four times the layers",
        1.5,
        lambda b: b.compile_growth(nested=True),
        "times",
        "ours",
    ),
    Row(
        "second-process",
        "first step of a second process, persistent cache",
        0.2,
        missing="not in this slice: the persistent compile cache",
    ),
    Row("step-mlp", "training step: multi-layer perceptron", 1.0, lambda b: b.steps("mlp")),
    Row("step-cnn", "training step: convolutions", 1.0, lambda b: b.steps("cnn")),
    Row("step-rnn", "training step: scanned RNN", 1.0, lambda b: b.steps("rnn")),
    Row(
        "step-transformer",
        "training step: transformer, layers in a loop",
        0.5,
        lambda b: b.steps("transformer"),
    ),
    Row(
        "memory-mlp",
        "total gradient by named axis / by hand: perceptron",
        1.0,
        lambda b: b.memory("mlp-memory", "by-hand"),
        "B",
    ),
    Row(
        "memory-cnn",
        "the same: convolutions",
        1.0,
        lambda b: b.memory("cnn-memory", "by-hand"),
        "B",
    ),
    Row(
        "memory-transformer",
        "the same: two transformer layers",
        1.0,
        lambda b: b.memory("transformer-memory", "by-hand"),
        "B",
    ),
    Row(
        "memory-embedding",
        "the same / per example, then summed: embedding",
        0.01,
        lambda b: b.memory("embedding-memory", "per-example"),
        "B",
    ),
    Row(
        "all-reduces",
        "all-reduces per parameter and step on a mesh",
        1.0,
        unit="count",
        judged="ours",
        missing="not in this slice: meshes and shard_map",
    ),
)


def select(words: Sequence[str], rows: Sequence[Row] = ROWS) -> tuple[Row, ...]:
    """Return the rows whose names are, or begin with, one of ``words``; all rows for no word.

    Raises:
        ValueError: If a word selects no row.

    Examples:
        >>> [row.name for row in select(["eager-add", "trace"])]
        ['eager-add', 'trace', 'trace-again']
    """
    for word in words:
        if not any(row.name.startswith(word) for row in rows):
            names = ", ".join(row.name for row in rows)
            raise ValueError(f"--only {word}: no row is called so; there are {names}")
    return tuple(row for row in rows if not words or row.name.startswith(tuple(words)))
