"""Elements of arrays in random order: permutations and samples.

A permutation sorts by random words. Two of them may be equal, and then the order before decides; so
it is done again with new words until a chance of that no longer matters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from axonym_compile import library_jit
from axonym_core import lax
from axonym_core.arrays import Array, ConcreteArray
from axonym_core.operators import as_array
from axonym_core.types import aval_of, dtypes

from ._arguments import as_shape, count, float_parameter, spread
from ._continuous import gumbel_of, positive_unit
from ._keys import KeyLike, check_key
from ._streams import draw_bits, split_pair
from ._uniform import randint, unit
from .errors import DistributionError, RandomDTypeError, RandomShapeError


def permutation(key: KeyLike, x: Any, axis: int = 0, independent: bool = False) -> Array:
    """Put the elements of an array into random order.

    Args:
        key: A key.
        x: Array with at least one dimension; or an integer `n`, which stands for the numbers from
            0 to `n - 1`.
        axis: The dimension along which elements are moved.
        independent: Whether each slice along the axis has an order of its own; otherwise the array
            is moved as a whole.

    Returns:
        Array of the shape and dtype of `x` (int32 for an integer).

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `x` is negative or has no such axis.
        RandomDTypeError: `x` is a number, but no integer.

    Example:
        >>> import axonym_random as random
        >>> sorted(random.permutation(random.key(0), 5).tolist())
        [0, 1, 2, 3, 4]
    """
    check_key(key, "permutation")
    population = _population(x, axis, "permutation", "x")
    if isinstance(population, int):
        return _numbers(key, n=population)
    axis %= aval_of(population).ndim
    return _permutation(key, population, axis=axis, independent=bool(independent))


def _population(x: Any, axis: int, function: str, argument: str) -> Any:
    """A number of elements, or the array of them, with the axis checked."""
    aval = aval_of(x)
    if aval.ndim == 0:
        if not dtypes.is_integer(aval.dtype):
            raise RandomDTypeError(
                f"{function}: {argument} is of type {aval}; it has to be an array with at least "
                "one dimension, or an integer"
            )
        n = x.__index__()
        if n < 0:
            raise RandomShapeError(f"{function}: {argument}={n} is negative; give 0 or more")
        return n
    if not -aval.ndim <= axis < aval.ndim:
        raise RandomShapeError(
            f"{function}: axis={axis} is not a dimension of {argument}, which has type {aval}; use "
            f"a number from {-aval.ndim} to {aval.ndim - 1}"
        )
    return x


def _shuffled(key: Any, x: Array, axis: int) -> Array:
    size = aval_of(x).size
    # With r rounds of n words, two are equal in all rounds with a chance below n**2 / 2**(32 r).
    rounds = math.ceil(3 * math.log(max(1, size)) / math.log(2**32 - 1))
    for _ in range(rounds):
        key, now = split_pair(key)
        _, x = lax.sort_key_val(draw_bits(now, aval_of(x).shape, 32), x, axis)
    return x


def _permutation_program(key: Any, x: Any, *, axis: int, independent: bool) -> Array:
    aval = aval_of(x)
    if independent or aval.ndim == 1:
        return _shuffled(key, x, axis)
    return _taken(x, _numbers_program(key, n=aval.shape[axis]), axis)


_permutation = library_jit(_permutation_program, static_argnames=("axis", "independent"))


def _numbers_program(key: Any, *, n: int) -> Array:
    return _shuffled(key, lax.iota(dtypes.default_int_dtype(), n), 0)


_numbers = library_jit(_numbers_program, static_argnames="n")


def _taken(x: Any, indices: Array, axis: int) -> Array:
    return as_array(x)[(*[slice(None)] * axis, indices)]


def choice(
    key: KeyLike,
    a: Any,
    shape: int | Sequence[int] = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
) -> Array:
    """Draw elements of an array.

    Args:
        key: A key.
        a: Array with at least one dimension; or an integer `n`, which stands for the numbers from
            0 to `n - 1`.
        shape: Shape of the draws.
        replace: Whether an element may be drawn more than once.
        p: Probabilities of the elements, up to a factor: a vector of floating-point numbers, none
            of them negative. By default all elements are equally likely. Where there are too few
            positive ones and that cannot be seen, since `p` is traced, elements of probability 0
            follow.
        axis: The dimension of `a` along which elements are drawn.

    Returns:
        Array of the dtype of `a` (int32 for an integer), of shape `shape`, with the other
        dimensions of `a` around it.

    Raises:
        KeyTypeError: `key` is no key.
        KeyArrayError: `key` is an array of keys.
        RandomShapeError: `shape` is no shape, `a` is negative or has no such axis, or `p` has
            another length.
        RandomDTypeError: `a` is a number, but no integer; `p` are no floating-point numbers.
        DistributionError: There are no elements, or fewer (of a positive probability) than are to
            be drawn without replacement.

    Example:
        >>> import numpy as np
        >>> import axonym_random as random
        >>> p = np.float32([1, 0, 1])
        >>> drawn = random.choice(random.key(0), np.array([10, 20, 30]), (5,), p=p)
        >>> set(drawn.tolist()) <= {10, 30}
        True
    """
    check_key(key, "choice")
    sizes = as_shape(shape, "choice")
    population = _population(a, axis, "choice", "a")
    alone = isinstance(population, int)
    if not alone:
        axis %= aval_of(population).ndim
    n = population if alone else aval_of(population).shape[axis]
    draws = count(sizes)
    if draws and n == 0:
        raise DistributionError("choice: a has no elements to draw; give at least one, or shape=0")
    if not replace and draws > n:
        raise DistributionError(
            f"choice: shape={sizes} asks for {draws} of {n} elements without replacement; draw "
            "fewer, or with replace=True"
        )
    if p is not None:
        dtype = float_parameter(p, "choice", "p")
        if aval_of(p).shape != (n,):
            raise RandomShapeError(
                f"choice: p has shape {aval_of(p).shape}, and there are {n} elements; give one "
                "probability for each"
            )
        if draws:
            _check_weights(p, 1 if replace else draws)
            where = _weighted(key, p, shape=sizes, dtype=dtype, replace=bool(replace))
        else:
            where = lax.full(sizes, 0, dtypes.default_int_dtype())
    elif replace:
        where = randint(key, sizes, 0, max(n, 1))
    else:
        where = _sample(key, n=n, shape=sizes)
    drawn: Array = where if alone else _take(population, where, axis=axis)
    return drawn


def _check_weights(p: Any, least: int) -> None:
    """Require that so many elements can be drawn, where the probabilities are known."""
    if isinstance(p, Array) and not isinstance(p, ConcreteArray):
        return
    positive = int(np.count_nonzero(np.asarray(p) > 0))
    if positive < least:
        raise DistributionError(
            f"choice: {least} different elements are to be drawn, but only {positive} of the "
            f"{len(p)} probabilities p are positive; draw fewer, or with replace=True, and give at "
            "least one positive probability"
        )


_take = library_jit(_taken, static_argnames="axis")


def _sample_program(key: Any, *, n: int, shape: tuple[int, ...]) -> Array:
    order = _numbers_program(key, n=n)
    return lax.reshape(lax.slice_in_dim(order, 0, count(shape)), shape)


_sample = library_jit(_sample_program, static_argnames=("n", "shape"))


def _weighted_program(
    key: Any, p: Any, *, shape: tuple[int, ...], dtype: np.dtype[Any], replace: bool
) -> Array:
    p = spread(p, aval_of(p).shape, dtype)
    index = dtypes.default_int_dtype()
    if not replace:
        noise = gumbel_of(positive_unit(key, aval_of(p).shape, dtype))
        _, best = lax.top_k(lax.add(noise, lax.log(p)), count(shape))
        return lax.reshape(lax.convert_element_type(best, index), shape)
    upto = lax.cumsum(p)
    total = lax.index_in_dim(upto, -1, 0, keepdims=False)
    # From (0, total]: an element of probability 0 adds nothing to the sum, and is never reached.
    wanted = lax.mul(total, lax.sub(dtype.type(1), unit(key, shape, dtype)))
    return lax.convert_element_type(_first_not_less(upto, wanted), index)


def _first_not_less(ascending: Array, wanted: Array) -> Array:
    """For each number, where the first element is that is not less: a search by bisection."""
    n = aval_of(ascending).size
    shape = aval_of(wanted).shape
    low = lax.full(shape, 0, dtypes.int32)
    high = lax.full(shape, n - 1, dtypes.int32)
    for _ in range(max(n - 1, 0).bit_length()):
        middle = lax.shift_right_logical(lax.add(low, high), np.int32(1))
        less = lax.lt(ascending[middle], wanted)
        low = lax.select_n(less, low, lax.add(middle, np.int32(1)))
        high = lax.select_n(less, middle, high)
    return lax.min(low, high)


_weighted = library_jit(_weighted_program, static_argnames=("shape", "dtype", "replace"))
