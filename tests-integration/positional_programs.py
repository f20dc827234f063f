"""Small programs over named axes, on Axonym's arrays and, as P⁺ of the positional law, on NumPy's.

A program is a list of operations on numbered values. P⁺ is evaluated and differentiated in plain
NumPy and uses nothing of Axonym.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from positional_lanes import DIRECTION, STEP, Lanes, Names
from positional_operations import Body, Op, run


@dataclass(frozen=True)
class Input:
    """An argument of a program: its kind (`f` or `i`), shape and the axes that it varies over."""

    kind: str
    shape: tuple[int, ...]
    names: Names


@dataclass(frozen=True, eq=False)
class Program:
    """A program with its named axes, its arguments (floats first) and how it is to be mapped."""

    axes: Mapping[str, int]
    inputs: tuple[Input, ...]
    body: Body
    seed: int
    style: str
    values: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        object.__setattr__(
            self,
            "values",
            [
                rng.uniform(-1.5, 1.5, self.full_shape(i.names, i.shape))
                if i.kind == "f"
                else rng.integers(0, 2, self.full_shape(i.names, i.shape)).astype(np.int32)
                for i in self.inputs
            ],
        )

    @property
    def floats(self) -> list[Input]:
        return [i for i in self.inputs if i.kind == "f"]

    @property
    def out_names(self) -> list[Names]:
        """Axes that each result varies over, by the rules for names alone."""
        return run(self.body, {}, [i.names for i in self.inputs], "names")

    def full_shape(self, names: Names, shape: Sequence[int]) -> tuple[int, ...]:
        return (*(self.axes[n] for n in sorted(names)), *shape)

    def random(self, names: Names, shape: Sequence[int], salt: int) -> Lanes:
        """Random array of a value that varies over some axes; now and then over none of them."""
        rng = np.random.default_rng((self.seed, salt))
        names = names if rng.integers(4) else frozenset()
        return Lanes(tuple(sorted(names)), rng.uniform(-1.0, 1.0, self.full_shape(names, shape)))

    def named(self, *args: Any) -> tuple[Any, ...]:
        """The program on Axonym's arrays."""
        return tuple(run(self.body, {}, args, "named"))

    def positional(self, floats: Sequence[Lanes]) -> list[Lanes]:
        """P⁺ on arrays for its floating-point arguments, as results with complex entries."""
        ints = [
            Lanes(tuple(sorted(i.names)), v)
            for i, v in zip(self.inputs, self.values, strict=True)
            if i.kind == "i"
        ]
        return run(self.body, {}, [*floats, *ints], "arrays")

    def jacobian(self, copied: Names) -> tuple[list[Lanes], list[tuple[int, tuple[int, ...]]]]:
        """P⁺ with copies of its unmapped arguments along some axes, and all its derivatives.

        Returns:
            The results, whose imaginary parts along the axis `#` are the derivatives with respect
            to one entry after the other of all arguments; and for each argument the number of its
            first entry and its shape.
        """
        full, places, count = [], [], 0
        for i, v in zip(self.floats, self.values, strict=False):
            names = tuple(sorted(i.names | copied))
            data = Lanes(tuple(sorted(i.names)), v).along(names, self.axes)
            full.append((names, data))
            places.append((count, data.shape))
            count += data.size
        arguments = []
        for (names, data), (first, shape) in zip(full, places, strict=True):
            seeds = np.zeros((count, data.size))
            seeds[first : first + data.size] = np.eye(data.size)
            perturbed = data + 1j * STEP * seeds.reshape((count, *shape))
            arguments.append(Lanes((DIRECTION, *names), perturbed))
        return self.positional(arguments), places

    def vjp(self, cts: Sequence[Lanes], copied: Names = frozenset()) -> list[Any]:
        """VJP of P⁺ with unmapped arguments copied along some axes, and unmapped results too."""
        results, places = self.jacobian(copied)
        total = np.zeros(places[-1][0] + int(np.prod(places[-1][1])))
        for out, ct, names in zip(results, cts, self.out_names, strict=True):
            everywhere = tuple(sorted(names | copied))
            weight = ct.along(everywhere, self.axes)
            if DIRECTION not in out.names:
                continue
            sizes = {**self.axes, DIRECTION: out.sizes[DIRECTION]}
            slope = out.along((DIRECTION, *everywhere), sizes).imag / STEP
            total = total + (slope * weight).reshape((len(slope), -1)).sum(1)
        return [
            total[first : first + int(np.prod(shape))].reshape(shape) for first, shape in places
        ]

    def jvp(self, tangents: Sequence[Lanes]) -> tuple[list[Any], list[Any]]:
        """Values and derivatives of P⁺ in a direction, with the axes that results vary over."""
        arguments = []
        for i, v, t in zip(self.floats, self.values, tangents, strict=False):
            names = tuple(sorted(i.names))
            arguments.append(Lanes(names, v + 1j * STEP * t.along(names, self.axes)))
        outs = [
            o.along(tuple(sorted(n)), self.axes)
            for o, n in zip(self.positional(arguments), self.out_names, strict=True)
        ]
        return [o.real for o in outs], [o.imag / STEP for o in outs]


def has(body: Body, kind: type[Op]) -> bool:
    """Whether an operation of a kind is somewhere in a body."""
    for op in body.ops:
        if isinstance(op, kind):
            return True
        for inner in inner_bodies(op):
            if has(inner, kind):
                return True
    return False


def inner_bodies(op: Op) -> list[Body]:
    """Bodies that an operation holds."""
    bodies = getattr(op, "bodies", ())
    return [*bodies, *([op.body] if hasattr(op, "body") else [])]


def count_ops(body: Body) -> dict[str, int]:
    """How often each kind of operation occurs, in bodies too."""

    def add(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
        return {k: a.get(k, 0) + b.get(k, 0) for k in {**a, **b}}

    own: dict[str, int] = {}
    for op in body.ops:
        own = add(own, {type(op).__name__: 1})
        own = reduce(add, [count_ops(b) for b in inner_bodies(op)], own)
    return own
