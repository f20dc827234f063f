"""Products of two arrays whose dimensions carry labels, summed over what is not kept.

This is the step that `einsum`, `matmul`, `dot` and their kin consist of: shared labels that are
kept are batch dimensions of one `dot_general`, shared ones that are not are contracted, the rest
are free. Named axes are summed over in the same operation, so that reverse mode never holds a
cotangent for each index of them. What to do depends on the labels alone and is worked out once.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.operators import promote_dtypes, scalar_of
from axonym_core.primitives.contractions import DotDimensionNumbers, dot_general_p
from axonym_core.primitives.elementwise import mul_p
from axonym_core.primitives.shape import squeeze_p, transpose_p
from axonym_core.types import AxisName, aval_of, dtypes

from ..creation.matrices import diagonal

__all__ = [
    "Labels",
    "Options",
    "arrange",
    "contract",
    "drop",
    "merge_repeated",
    "promote_factors",
    "truths_of",
]

Labels = tuple[int, ...]


class Options(NamedTuple):
    """How products are computed: the arguments that go on to `lax.dot_general`."""

    precision: Any = None
    preferred_element_type: Any = None


PLAIN = Options()


def promote_factors(name: str, operands: Sequence[Any]) -> tuple[Sequence[Any], bool]:
    """Factors in one dtype, and whether they are truth values (then counted as integers)."""
    first = operands[0].aval.dtype
    if first == dtypes.bool_ or not all([x.aval.dtype is first for x in operands]):
        operands = promote_dtypes(name, *operands)
    if aval_of(operands[0]).dtype != dtypes.bool_:
        return operands, False
    return [lax.convert_element_type(x, dtypes.int32) for x in operands], True


def truths_of(counts: Any) -> Array:
    """Truth values of a product of truth values that was counted."""
    return lax.ne(counts, scalar_of(0, dtypes.int32))


def merge_repeated(x: Any, labels: Labels) -> tuple[Any, Labels]:
    """Take the diagonal where a label occurs twice in one operand."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = diagonal(x, 0, first, second)
            labels = (*[v for i, v in enumerate(labels) if i not in (first, second)], label)
    return x, labels


def drop(x: Any, labels: Labels, dims: tuple[int, ...]) -> tuple[Any, Labels]:
    """Squeeze dimensions of size 1, which broadcast against longer ones of the same label."""
    if not dims:
        return x, labels
    kept = tuple([v for i, v in enumerate(labels) if i not in dims])
    return squeeze_p.bind(x, dimensions=dims), kept


def arrange(x: Any, labels: Labels, wanted: Labels) -> Any:
    """Put dimensions in the wanted order."""
    if labels == wanted:
        return x
    return transpose_p.bind(x, permutation=tuple([labels.index(v) for v in wanted]))


class _Plan(NamedTuple):
    """How to multiply two arrays: what to sum first, then one product."""

    x_summed: tuple[int, ...]
    y_summed: tuple[int, ...]
    swap: bool
    numbers: DotDimensionNumbers | None  # None for a product element by element
    labels: Labels


def _positions(labels: Labels, wanted: Sequence[int]) -> tuple[int, ...]:
    return tuple([labels.index(v) for v in wanted])


@lru_cache(maxsize=4096)
def _plan(x: Labels, y: Labels, keep: frozenset[int], wanted: Labels, plain: bool) -> _Plan:
    x_summed = tuple([i for i, v in enumerate(x) if v not in keep and v not in y])
    y_summed = tuple([i for i, v in enumerate(y) if v not in keep and v not in x])
    x = tuple([v for v in x if v in keep or v in y])
    y = tuple([v for v in y if v in keep or v in x])
    shared = [v for v in x if v in y]
    batch = [v for v in shared if v in keep]
    summed = [v for v in shared if v not in keep]
    if plain and not summed and (not x or not y or x == y):
        return _Plan(x_summed, y_summed, False, None, x or y)
    x_free = tuple([v for v in x if v not in shared])
    y_free = tuple([v for v in y if v not in shared])
    batch.sort(key=lambda v: wanted.index(v) if v in wanted else len(wanted) + x.index(v))
    swap = (*batch, *y_free, *x_free) == wanted != (*batch, *x_free, *y_free)
    if swap:
        x, y, x_free, y_free = y, x, y_free, x_free
    numbers = (
        (_positions(x, summed), _positions(y, summed)),
        (_positions(x, batch), _positions(y, batch)),
    )
    return _Plan(x_summed, y_summed, swap, numbers, (*batch, *x_free, *y_free))


def contract(
    x: Any,
    x_labels: Labels,
    y: Any,
    y_labels: Labels,
    keep: frozenset[int],
    wanted: Labels = (),
    names: tuple[AxisName, ...] = (),
    options: Options = PLAIN,
) -> tuple[Any, Labels]:
    """Product of two arrays, summed over the labels that are not kept, and over named axes.

    Args:
        x: Array whose labels are all different.
        x_labels: One label for each of its dimensions.
        y: The other array, of the same dtype.
        y_labels: Its labels.
        keep: Labels that are not summed over.
        wanted: Order of labels that the caller would like best.
        names: Named axes to sum over.
        options: Precision and dtype of the result.

    Returns:
        The product, and its labels in their order.
    """
    plain = not names and options == PLAIN
    plan = _plan(x_labels, y_labels, keep, wanted, plain)
    if plan.x_summed:
        x = lax.reduce_sum(x, plan.x_summed)
    if plan.y_summed:
        y = lax.reduce_sum(y, plan.y_summed)
    if plan.numbers is None:
        return mul_p.bind(x, y), plan.labels
    if plan.swap:
        x, y = y, x
    if plain:
        out = dot_general_p.bind(
            x,
            y,
            dimension_numbers=plan.numbers,
            precision=None,
            preferred_element_type=None,
            axis_names=(),
        )
    else:
        out = lax.dot_general(
            x, y, plan.numbers, options.precision, options.preferred_element_type, axis_names=names
        )
    return out, plan.labels
