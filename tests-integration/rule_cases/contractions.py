"""Cases of contractions and convolutions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from axonym import lax
from rule_cases.case import Case, complexes, spaced, whole

# The subscripts of NumPy's einsum, dimension numbers, shapes of the operands.
PRODUCTS = [
    ("ij,jk->ik", (((1,), (0,)), ((), ())), (2, 3), (3, 2)),
    ("i,i->", (((0,), (0,)), ((), ())), (3,), (3,)),
    ("i,j->ij", (((), ()), ((), ())), (2,), (3,)),
    ("bij,bjk->bik", (((2,), (1,)), ((0,), (0,))), (2, 3, 2), (2, 2, 1)),
    ("ijb,kbi->bjk", (((0,), (2,)), ((2,), (1,))), (2, 3, 2), (4, 2, 2)),
    ("ijk,jik->", (((0, 1, 2), (1, 0, 2)), ((), ())), (2, 3, 2), (3, 2, 2)),
    ("ij,kj->ik", (((1,), (1,)), ((), ())), (2, 0), (3, 0)),
]
LINEAR = ((0,), (1,))


def _products() -> Iterator[Case]:
    for subscripts, numbers, left, right in PRODUCTS:

        def product(x: Any, y: Any, numbers: Any = numbers) -> Any:
            return lax.dot_general(x, y, numbers)

        def einsum(x: Any, y: Any, subscripts: str = subscripts) -> Any:
            return np.einsum(subscripts, x, y)

        x, y = spaced(left), spaced(right, seed=1)
        yield Case("dot_general", product, einsum, (x, y), subscripts, LINEAR, loose=8)
        single = x.astype("f4"), y.astype("f4")
        yield Case("dot_general", product, einsum, single, subscripts, LINEAR, loose=8)
        yield Case(
            "dot_general",
            product,
            einsum,
            (complexes(left), complexes(right, 2)),
            subscripts,
            LINEAR,
            loose=8,
        )
        yield Case("dot_general", product, einsum, (whole(left), whole(right)), subscripts)
    half = spaced((2, 3)).astype(ml_dtypes.bfloat16), spaced((3, 2)).astype(ml_dtypes.bfloat16)
    wide = lambda x, y: lax.dot_general(x, y, PRODUCTS[0][1], preferred_element_type=np.float32)  # noqa: E731
    yield Case("dot_general", wide, np.matmul, half, "wider result", LINEAR, smooth=False, loose=8)
    yield Case(
        *("dot_general", lambda x, y: lax.dot_general(x, y, PRODUCTS[0][1], axis_names=("i",))),
        *(
            lambda x, y: None,
            (spaced((2, 3)), spaced((3, 2), seed=1)),
            "over a name",
            (),
            True,
            True,
        ),
        *(None, 8.0, lambda x, y: np.einsum("nij,njk->ik", x, y), False),
    )


def convolved(
    x: Any,
    k: Any,
    strides: Any,
    padding: Any,
    lhs_dilation: Any = (1, 1),
    rhs_dilation: Any = (1, 1),
    groups: int = 1,
    batch_groups: int = 1,
) -> Any:
    """Convolution by plain loops: images NCHW, kernels OIHW, two spatial dimensions."""
    n, c, *sizes = x.shape
    spread = np.zeros(
        (n, c, *[(s - 1) * d + 1 for s, d in zip(sizes, lhs_dilation, strict=True)]), x.dtype
    )
    spread[:, :, :: lhs_dilation[0], :: lhs_dilation[1]] = x
    x = np.pad(spread, ((0, 0), (0, 0), *[tuple(max(p, 0) for p in pair) for pair in padding]))
    cuts = [
        slice(max(-low, 0), size - max(-high, 0))
        for (low, high), size in zip(padding, x.shape[2:], strict=True)
    ]
    x = x[:, :, cuts[0], cuts[1]]
    o, per_group = k.shape[:2]
    spans = [(s - 1) * d + 1 for s, d in zip(k.shape[2:], rhs_dilation, strict=True)]
    counts = [
        (size - span) // s + 1 for size, span, s in zip(x.shape[2:], spans, strides, strict=True)
    ]
    out = np.zeros((n // batch_groups, o, *counts), np.result_type(x, k))
    for channel, i, j in itertools.product(range(o), *map(range, counts)):
        group = channel // (o // groups)
        part = channel // (o // batch_groups)
        images = x[part * (n // batch_groups) : (part + 1) * (n // batch_groups)]
        window = images[
            :,
            group * per_group : (group + 1) * per_group,
            i * strides[0] : i * strides[0] + spans[0] : rhs_dilation[0],
            j * strides[1] : j * strides[1] + spans[1] : rhs_dilation[1],
        ]
        out[:, channel, i, j] = np.einsum("ncij,cij->n", window, k[channel])
    return out


CONVOLUTIONS: list[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ("plain", (2, 2, 3, 4), (3, 2, 2, 2), {"strides": (1, 1), "padding": ((0, 0), (1, 1))}),
    ("strided", (1, 1, 5, 4), (2, 1, 2, 3), {"strides": (2, 3), "padding": ((1, 0), (2, 1))}),
    (
        "dilated",
        (1, 2, 3, 3),
        (1, 2, 2, 2),
        {"strides": (1, 2), "padding": ((0, 1), (1, 0)), "rhs_dilation": (2, 1)},
    ),
    (
        "transposed",
        (1, 1, 2, 3),
        (2, 1, 2, 2),
        {"strides": (1, 1), "padding": ((1, 1), (0, 2)), "lhs_dilation": (2, 3)},
    ),
    (
        "in groups",
        (1, 4, 3, 3),
        (6, 2, 2, 2),
        {"strides": (2, 1), "padding": ((1, 0), (0, 0)), "groups": 2},
    ),
    (
        "in batch groups",
        (4, 2, 3, 3),
        (2, 2, 2, 2),
        {"strides": (1, 1), "padding": ((0, 0), (0, 1)), "batch_groups": 2},
    ),
    ("cut", (1, 1, 4, 4), (1, 1, 2, 2), {"strides": (1, 1), "padding": ((-1, 0), (0, -2))}),
]


def _convolutions() -> Iterator[Case]:
    for label, image, kernel, how in CONVOLUTIONS:

        def convolve(x: Any, k: Any, how: Any = how) -> Any:
            return lax.conv_general_dilated(
                *(x, k, how["strides"], how["padding"]),
                *(how.get("lhs_dilation"), how.get("rhs_dilation")),
                feature_group_count=how.get("groups", 1),
                batch_group_count=how.get("batch_groups", 1),
            )

        def reference(x: Any, k: Any, how: Any = how) -> Any:
            return convolved(x, k, **how)

        x, k = spaced(image), spaced(kernel, seed=1)
        yield Case("conv_general_dilated", convolve, reference, (x, k), label, LINEAR, loose=8)
    single = spaced((2, 2, 3, 4)).astype("f4"), spaced((3, 2, 2, 2)).astype("f4")
    plain = {"strides": (1, 1), "padding": ((0, 0), (1, 1))}

    def last(x: Any, k: Any) -> Any:
        names = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, k, (1, 1), plain["padding"], dimension_numbers=names)

    def channels_last(x: Any, k: Any) -> Any:
        out = convolved(x.transpose(0, 3, 1, 2), k.transpose(3, 2, 0, 1), **plain)
        return out.transpose(0, 2, 3, 1)

    moved = single[0].transpose(0, 2, 3, 1).copy(), single[1].transpose(2, 3, 1, 0).copy()
    yield Case("conv_general_dilated", last, channels_last, moved, "channels last", LINEAR, loose=8)

    def over_name(x: Any, k: Any) -> Any:
        return lax.conv_general_dilated(x, k, (1, 1), plain["padding"], axis_names=("i",))

    def summed(x: Any, k: Any) -> Any:
        return sum(convolved(a, b, **plain) for a, b in zip(x, k, strict=True))

    yield Case(
        *("conv_general_dilated", over_name, lambda x, k: None),
        *((spaced((1, 1, 2, 3)), spaced((2, 1, 2, 2))), "over a name", (), True, True, None, 8.0),
        *(summed, False),
    )


CASES = [*_products(), *_convolutions()]
