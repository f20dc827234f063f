"""Positional programs, each around one difficulty that a generated program ran into once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from positional_control import Branch, CustomJvp, CustomVjp, Jit, Map, Scan, While
from positional_lanes import Names
from positional_operations import (
    Affine,
    Binary,
    Body,
    Collective,
    Extremum,
    Grouped,
    Op,
    StopGradient,
    Sum,
    Unary,
)
from positional_programs import Input, Program

I_AXES = {"i": 3}
IJ_AXES = {"i": 3, "j": 2}
SHARED: Names = frozenset()
EACH: Names = frozenset("i")


def program(
    axes: dict[str, int],
    inputs: Sequence[Input],
    ops: Sequence[Op],
    *outs: int,
    style: str = "vmap",
) -> Program:
    body = Body(tuple(range(len(inputs))), tuple(ops), outs)
    return Program(axes, tuple(inputs), body, 1, style)


def number(names: Any = SHARED) -> Input:
    return Input("f", (), frozenset(names))


def vector(names: Any = SHARED) -> Input:
    return Input("f", (3,), frozenset(names))


def choice(names: Any = EACH) -> Input:
    return Input("i", (), frozenset(names))


_product = Body((30, 31), (Binary((30, 31), (32,), "mul"),), (32,))
_quotient = Body((33, 34), (Binary((33, 34), (35,), "div"),), (35,))
_stopped = CustomJvp((2,), (4,), Body((3,), (StopGradient((3,), (5,)),), (5,)), 2.0)
_mean = Collective((3,), (4,), "pmean", ("i", "j"), IJ_AXES)
_twice_sine = Body((10, 11), (Binary((10, 11), (12,), "mul"), Unary((12,), (13,), "sin")), (13,))
_identity = Body((20,), (), (20,))

EXAMPLES = {
    "loop over a shared value in a branch that some take": program(
        I_AXES,
        [vector(), number("i"), choice()],
        [
            Branch(
                (2, 0),
                (9,),
                (
                    Body((3,), (Scan((0, 3), (4,), _product, 1, 3, False, 1),), (4,)),
                    Body((8,), (), (8,)),
                ),
                None,
            ),
            Binary((9, 1), (14,), "mul"),
        ],
        14,
    ),
    "branch that sums over those who do not take it": program(
        I_AXES,
        [number("i"), choice()],
        [
            Branch(
                (1, 0),
                (9,),
                (
                    Body(
                        (3,),
                        (
                            Binary((3, 3), (4,), "mul"),
                            Collective((4,), (5,), "psum", ("i",), I_AXES),
                        ),
                        (5,),
                    ),
                    Body((6,), (Unary((6,), (7,), "sin"),), (7,)),
                ),
                None,
            )
        ],
        9,
    ),
    "such a branch in an inner map": program(
        IJ_AXES,
        [vector("ij"), number("j")],
        [
            Map(
                (0,),
                (9,),
                Body(
                    (2,),
                    (
                        Branch(
                            (2, 1),
                            (8,),
                            (
                                Body((3,), (_mean,), (4,)),
                                Body((5,), (Unary((5,), (6,), "cos"),), (6,)),
                            ),
                            0.0567,
                        ),
                    ),
                    (8,),
                ),
                "m",
                3,
                False,
            )
        ],
        9,
        style="xmap dict",
    ),
    "operand that varies over fewer axes than the condition": program(
        IJ_AXES,
        [vector("j"), choice("ij")],
        [
            Branch(
                (1, 0),
                (9,),
                (
                    Body((2,), (Jit((2, 2), (3,), _twice_sine, False),), (3,)),
                    Body((4,), (Unary((4,), (5,), "neg"),), (5,)),
                ),
                None,
            )
        ],
        9,
    ),
    "custom rule with a sum of a shared argument": program(
        I_AXES,
        [number(), number("i")],
        [
            CustomJvp(
                (0,),
                (9,),
                Body(
                    (2,),
                    (Unary((2,), (3,), "sin"), Collective((3,), (4,), "psum", ("i",), I_AXES)),
                    (4,),
                ),
                2.0,
            ),
            Binary((9, 1), (14,), "mul"),
        ],
        14,
        9,
    ),
    "custom backward rule of shared arguments": program(
        IJ_AXES,
        [number(), number("i"), number()],
        [
            CustomVjp((0, 2), (9,), 3.0),
            CustomVjp((0, 1), (14,), 3.0),
            Binary((9, 14), (15,), "mul"),
        ],
        15,
        9,
        style="vmap reversed",
    ),
    "custom backward rule under a condition": program(
        I_AXES,
        [number(), number("i")],
        [
            Branch(
                (0, 1),
                (9,),
                (
                    Body((2,), (CustomVjp((0, 2), (3,), 3.0),), (3,)),
                    Body((4,), (Unary((4,), (5,), "cos"),), (5,)),
                ),
                0.0567,
            )
        ],
        9,
    ),
    "loop of unknown length with a sum of a shared value": program(
        I_AXES,
        [number(), choice(())],
        [
            While(
                (1, 0),
                (9,),
                Body(
                    (2,),
                    (
                        Collective((0,), (3,), "psum", ("i",), I_AXES),
                        Binary((2, 3), (4,), "mul"),
                        Unary((4,), (5,), "sin"),
                    ),
                    (5,),
                ),
                2,
            )
        ],
        9,
    ),
    "carry whose derivative ends after a step": program(
        I_AXES,
        [vector("i")],
        [
            CustomJvp(
                (0,),
                (9,),
                Body(
                    (1,),
                    (
                        Scan(
                            (1, 1),
                            (7, 8),
                            Body(
                                (2, 3),
                                (StopGradient((3,), (4,)), Affine((4,), (5,), 0.5, 0.0)),
                                (5, 5),
                            ),
                            2,
                            2,
                            False,
                            1,
                        ),
                        Binary((7, 1), (6,), "mul"),
                    ),
                    (6,),
                ),
                2.0,
            )
        ],
        9,
    ),
    "constant tangent in a branch": program(
        I_AXES,
        [vector("i"), choice(())],
        [
            Branch(
                (1, 0),
                (9,),
                (
                    Body((2,), (_stopped,), (4,)),
                    Body((6,), (Unary((6,), (7,), "sin"),), (7,)),
                ),
                None,
            )
        ],
        9,
    ),
    "loop that starts without a derivative": program(
        I_AXES,
        [vector(), vector("i")],
        [
            StopGradient((0,), (2,)),
            CustomJvp(
                (2, 1),
                (9,),
                Body(
                    (3, 4),
                    (Scan((4, 3), (8,), _quotient, 1, 3, True, 1),),
                    (8,),
                ),
                2.0,
            ),
        ],
        9,
        style="xmap list",
    ),
    "extremes that a compiler computes twice": program(
        IJ_AXES,
        [Input("f", (2, 3), frozenset("j")), number()],
        [
            Extremum((0,), (2,), "pmax", ("i", "j"), IJ_AXES, True),
            Binary((2, 1), (3,), "mul"),
            Sum((3,), (4,), (0, 1), (), IJ_AXES),
        ],
        4,
        2,
    ),
    "custom rule of what varies by type alone": program(
        I_AXES,
        [number()],
        [
            Grouped((0,), (1,), "psum", "i", I_AXES, ((0, 1, 2),)),
            CustomVjp((1, 1), (2,), 3.0),
            CustomJvp((1,), (4,), Body((3,), (StopGradient((3,), (5,)),), (5,)), 2.0),
        ],
        2,
        4,
    ),
    "sums within groups of unlike sizes, and over dimensions beside a name": program(
        IJ_AXES,
        [vector(), vector("ij")],
        [
            Binary((0, 1), (2,), "mul"),
            Grouped((2,), (3,), "pmean", "i", IJ_AXES, ((2,), (1, 0))),
            Grouped((0,), (4,), "psum", "i", IJ_AXES, ((2,), (1, 0))),
            Collective((3,), (5,), "pmean", ("j",), IJ_AXES, (0,)),
        ],
        3,
        4,
        5,
    ),
    "program that returns an argument": program(
        I_AXES, [number(), number("i")], [Jit((0,), (9,), _identity, False)], 9, 0, 1
    ),
}
