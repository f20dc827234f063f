"""Products of two arrays whose dimensions carry labels, summed over what is not kept.

This is the step that `einsum`, `matmul`, `dot` and their kin consist of: shared labels that are
kept are batch dimensions of one `dot_general`, shared ones that are not are contracted, the rest
are free. Named axes are summed over in the same operation, so that reverse mode never holds a
cotangent for each index of them.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from axonym_core import dtypes, lax
from axonym_core.array import Array
from axonym_core.avals import AxisName, aval_of
from axonym_core.primitives.contractions import dot_general_p
from axonym_core.primitives.elementwise import mul_p
from axonym_core.primitives.shape import squeeze_p, transpose_p
from axonym_core.promotion import promote_dtypes, scalar_of

from .matrices import diagonal

__all__ = ["Options", "arrange", "contract", "promote_factors", "reduce_one", "truths_of"]

Label = int
Labels = tuple[Label, ...]


class Options(NamedTuple):
    """How products are computed: the arguments that go on to `lax.dot_general`."""

    precision: Any = None
    preferred_element_type: Any = None


def promote_factors(name: str, operands: Sequence[Any]) -> tuple[list[Any], bool]:
    """Factors in one dtype, and whether they are truth values (then counted as integers)."""
    promoted = promote_dtypes(name, *operands)
    if aval_of(promoted[0]).dtype != dtypes.bool_:
        return promoted, False
    return [lax.convert_element_type(x, dtypes.int32) for x in promoted], True


def truths_of(counts: Any) -> Array:
    """Truth values of a product of truth values that was counted."""
    return lax.ne(counts, scalar_of(0, dtypes.int32))


def _without(labels: Labels, dropped: Collection[Label]) -> Labels:
    return tuple([x for x in labels if x not in dropped])


def merge_repeated(x: Any, labels: Labels) -> tuple[Any, Labels]:
    """Take the diagonal where a label occurs twice in one operand."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = diagonal(x, 0, first, second)
            labels = (*[v for i, v in enumerate(labels) if i not in (first, second)], label)
    return x, labels


def drop_single(x: Any, labels: Labels, sizes: dict[Label, int]) -> tuple[Any, Labels]:
    """Squeeze dimensions of size 1 that broadcast against a longer one of the same label."""
    shape = aval_of(x).shape
    dims = tuple([i for i, (v, n) in enumerate(zip(labels, shape, strict=True)) if n != sizes[v]])
    if not dims:
        return x, labels
    return squeeze_p.bind(x, dimensions=dims), tuple(
        [v for i, v in enumerate(labels) if i not in dims]
    )


def reduce_one(
    x: Any, labels: Labels, keep: Collection[Label], names: tuple[AxisName, ...] = ()
) -> tuple[Any, Labels]:
    """Sum over the labels that are not kept, and over named axes."""
    dims = tuple([i for i, v in enumerate(labels) if v not in keep])
    if not dims and not names:
        return x, labels
    return lax.reduce_sum(x, dims, names), tuple([v for v in labels if v in keep])


def arrange(x: Any, labels: Labels, wanted: Labels) -> Any:
    """Put dimensions in the wanted order."""
    if labels == wanted:
        return x
    return transpose_p.bind(x, permutation=tuple([labels.index(v) for v in wanted]))


def contract(
    x: Any,
    x_labels: Labels,
    y: Any,
    y_labels: Labels,
    keep: Collection[Label],
    wanted: Labels = (),
    names: tuple[AxisName, ...] = (),
    options: Options = Options(),  # noqa: B008  # immutable
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
    x, x_labels = reduce_one(x, x_labels, {*keep, *y_labels})
    y, y_labels = reduce_one(y, y_labels, {*keep, *x_labels})
    shared = [v for v in x_labels if v in y_labels]
    batch = [v for v in shared if v in keep]
    summed = [v for v in shared if v not in keep]
    plain = not names and options == Options()
    if plain and not summed and (not y_labels or x_labels == y_labels):
        return mul_p.bind(x, y), x_labels
    if plain and not summed and not x_labels:
        return mul_p.bind(x, y), y_labels
    x_free, y_free = _without(x_labels, shared), _without(y_labels, shared)
    batch.sort(key=lambda v: wanted.index(v) if v in wanted else x_labels.index(v))
    if (*batch, *y_free, *x_free) == wanted != (*batch, *x_free, *y_free):
        x, y, x_labels, y_labels, x_free, y_free = y, x, y_labels, x_labels, y_free, x_free
    numbers = (
        (tuple([x_labels.index(v) for v in summed]), tuple([y_labels.index(v) for v in summed])),
        (tuple([x_labels.index(v) for v in batch]), tuple([y_labels.index(v) for v in batch])),
    )
    if plain:
        out = dot_general_p.bind(
            x,
            y,
            dimension_numbers=numbers,
            precision=None,
            preferred_element_type=None,
            axis_names=(),
        )
    else:
        out = lax.dot_general(
            x, y, numbers, options.precision, options.preferred_element_type, axis_names=names
        )
    return out, (*batch, *x_free, *y_free)
