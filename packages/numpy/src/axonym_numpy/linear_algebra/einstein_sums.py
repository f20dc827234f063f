"""`einsum`: sums of products, written with a letter for each dimension.

Subscripts are parsed once (`_parse` is cached). Two operands go straight to one `dot_general`;
for more the order of contractions comes from `opt_einsum`, which is imported when it is first
needed.
"""

# mypy: disable-error-code="no-any-return"
# (`bind` is untyped: what it returns depends on the primitive. Here it is always an array.)

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from axonym_core import lax
from axonym_core.arrays import Array
from axonym_core.errors import ShapeError
from axonym_core.extend import axes_in_scope
from axonym_core.types import AxisName

from ..arguments.composites import composite
from ..arguments.operands import arrays_of
from ..errors import ArgumentError
from .labelled_contraction import (
    Labels,
    Options,
    arrange,
    contract,
    drop,
    merge_repeated,
    promote_factors,
    truths_of,
)

__all__ = ["einsum", "einsum_path"]


class _Parsed(NamedTuple):
    """Labels of the operands and of the result. Those of an ellipsis are negative."""

    operands: tuple[Labels, ...]
    out: Labels
    kept: frozenset[int]


def _refuse(subscripts: str, why: str) -> ArgumentError:
    return ArgumentError(
        f"einsum: subscripts={subscripts!r}: {why}; write a letter for each dimension, a comma "
        "between operands and '->' before the result, as in 'ij,jk->ik'"
    )


def _labels(subscripts: str, term: str, rank: int) -> Labels:
    """Labels of one operand, the dimensions of an ellipsis numbered from the last one."""
    before, dots, after = term.partition("...")
    for letter in before + after:
        if not letter.isalpha():
            raise _refuse(subscripts, f"{letter!r} is no letter")
    hidden = rank - len(before) - len(after)
    if hidden < 0 or (hidden and not dots):
        raise _refuse(
            subscripts,
            f"{term!r} has {len(before + after)} letters for an operand of {rank} dimensions",
        )
    return (*map(ord, before), *range(-hidden, 0), *map(ord, after))


def _parsed(operands: tuple[Labels, ...], out: Labels) -> _Parsed:
    return _Parsed(operands, out, frozenset(out))


@lru_cache(maxsize=4096)
def _parse(subscripts: str, ranks: tuple[int, ...]) -> _Parsed:
    text = "".join(subscripts.split())
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise _refuse(subscripts, f"it has {len(terms)} terms for {len(ranks)} operands")
    operands = tuple([_labels(subscripts, t, n) for t, n in zip(terms, ranks, strict=True)])
    every = [v for labels in operands for v in labels]
    hidden = sorted({v for v in every if v < 0})
    if not arrow:
        once = sorted([v for v in set(every) if v >= 0 and every.count(v) == 1])
        return _parsed(operands, (*hidden, *once))
    before, dots, after = right.partition("...")
    out = (*map(ord, before), *(hidden if dots else ()), *map(ord, after))
    for v in out:
        if v >= 0 and not chr(v).isalpha():
            raise _refuse(subscripts, f"{chr(v)!r} is no letter")
        if v not in every:
            raise _refuse(subscripts, f"{chr(v)!r} of the result is in no operand")
    if len(set(out)) != len(out):
        raise _refuse(subscripts, "the result names a letter twice")
    if hidden and not dots:
        raise _refuse(subscripts, "operands have '...', and the result has not")
    return _parsed(operands, out)


def _interleaved(args: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Subscripts and operands of a call that lists dimensions by number behind each operand."""
    *pairs, last = args if len(args) % 2 else (*args, None)
    operands, lists = pairs[::2], pairs[1::2]
    numbers = sorted({n for sub in (*lists, last or ()) for n in sub if n is not ...})
    letter = {n: chr(ord("a") + i) for i, n in enumerate(numbers)} | {...: "..."}
    terms = ["".join([letter[n] for n in sub]) for sub in lists]
    subscripts = ",".join(terms)
    if last is not None:
        subscripts += "->" + "".join([letter[n] for n in last])
    return subscripts, tuple(operands)


@lru_cache(maxsize=4096)
def _dropped(
    subscripts: str, parsed: _Parsed, shapes: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], ...]:
    """Dimensions of each operand that have size 1 where the letter has another size elsewhere."""
    sizes: dict[int, int] = {}
    for labels, shape in zip(parsed.operands, shapes, strict=True):
        for v, n in zip(labels, shape, strict=True):
            known = sizes.setdefault(v, n)
            if known != n:
                if 1 not in (known, n):
                    name = repr(chr(v)) if v >= 0 else "a dimension of '...'"
                    raise ShapeError(
                        f"einsum: {name} of {subscripts!r} has sizes {known} and {n} in operands "
                        f"of shapes {', '.join(map(str, shapes))}; sizes of one letter have to be "
                        "equal or 1"
                    )
                sizes[v] = n if known == 1 else known
    return tuple(
        [
            tuple([d for d, (v, n) in enumerate(zip(labels, shape, strict=True)) if n != sizes[v]])
            for labels, shape in zip(parsed.operands, shapes, strict=True)
        ]
    )


Path = tuple[tuple[int, ...], ...]


def _order_finder() -> Any:
    """The module `opt_einsum`, imported when first used: two operands never need it."""
    return import_module("opt_einsum")


@lru_cache(maxsize=1024)
def _path(parsed: _Parsed, shapes: tuple[tuple[int, ...], ...], optimize: Any) -> Path:
    """Which operands to contract one after the other; results go to the end of the list."""
    n = len(shapes)
    if optimize is False:
        return ((0, 1),) * (n - 1)
    opt_einsum = _order_finder()
    letters: dict[int, str] = {}

    def term(labels: Labels) -> str:
        return "".join([letters.setdefault(v, opt_einsum.get_symbol(len(letters))) for v in labels])

    equation = ",".join([term(labels) for labels in parsed.operands]) + "->" + term(parsed.out)
    how: Any = "auto" if optimize is True else optimize
    path, _ = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=how)
    return tuple([tuple(step) for step in path])


def _one(
    x: Any, labels: Labels, out: Labels, names: tuple[AxisName, ...], options: Options
) -> Array:
    """Sum, diagonal and transpose of a single operand."""
    x, labels = merge_repeated(x, labels)
    dims = tuple([i for i, v in enumerate(labels) if v not in out])
    if options.preferred_element_type is not None:
        x = lax.convert_element_type(x, options.preferred_element_type)
    if dims or names:
        x = lax.reduce_sum(x, dims, names)
    return arrange(x, tuple([v for v in labels if v in out]), out)


def _two(
    terms: Sequence[tuple[Any, Labels]],
    keep: frozenset[int],
    wanted: Labels,
    names: tuple[AxisName, ...],
    options: Options,
) -> tuple[Any, Labels]:
    (x, x_labels), (y, y_labels) = [merge_repeated(*t) for t in terms]
    return contract(x, x_labels, y, y_labels, keep, wanted, names, options)


@composite("parsed", "dropped", "path", "names", "options")
def _many(
    *operands: Any,
    parsed: _Parsed,
    dropped: tuple[tuple[int, ...], ...],
    path: Path,
    names: tuple[AxisName, ...],
    options: Options,
) -> Array:
    """Contract operands in the order of a path; named axes are summed over in the last step."""
    terms = [
        merge_repeated(*drop(x, labels, dims))
        for x, labels, dims in zip(operands, parsed.operands, dropped, strict=True)
    ]
    for step in path:
        chosen = [terms[i] for i in step]
        for i in sorted(step, reverse=True):
            del terms[i]
        while len(chosen) > 1:
            (x, x_labels), (y, y_labels), *rest = chosen
            others = frozenset([*parsed.out, *[v for _, ls in (*terms, *rest) for v in ls]])
            last = not terms and not rest
            product = contract(
                x,
                x_labels,
                y,
                y_labels,
                others,
                parsed.out if last else (),
                names if last else (),
                options,
            )
            chosen = [product, *rest]
        terms.append(chosen[0])
    ((out, labels),) = terms
    return arrange(out, labels, parsed.out)


def _prepared(args: tuple[Any, ...]) -> tuple[str, list[Any], _Parsed]:
    if not args:
        raise ArgumentError(
            "einsum: no subscripts and no operands; write einsum('ij,jk->ik', x, y)"
        )
    subscripts, operands = (args[0], args[1:]) if isinstance(args[0], str) else _interleaved(args)
    if not operands:
        raise ArgumentError(f"einsum: subscripts={subscripts!r} come without operands")
    arrays = arrays_of("einsum", *operands)
    parsed = _parse(subscripts, tuple([x.aval.ndim for x in arrays]))
    return subscripts, arrays, parsed


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    axis_names: Any = (),
    optimize: Any = True,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Sum of products over the letters that the result does not have, and over named axes.

    Args:
        subscripts: Letters for the dimensions of each operand, and after ``->`` for those of the
            result (without it: the letters that occur once, in alphabetical order). ``...`` stands
            for any dimensions, which broadcast.
        *operands: Arrays. Or no subscripts, and behind each operand the list of its dimensions by
            number, with that of the result at the end.
        axis_names: Named axes to sum over too, a name or a tuple of names; an operand that does not
            vary over one counts at each of its indices.
        optimize: How `opt_einsum` chooses the order of three operands or more (True for its
            ``auto``); False goes from left to right.
        precision: As of `lax.dot_general`.
        preferred_element_type: Dtype to accumulate in and to return.

    Returns:
        Array with the dimensions of the result, that does not vary over `axis_names`.

    Raises:
        ArgumentError: The subscripts do not fit the operands.
        ShapeError: A letter has two sizes.
        AxisNameError: A named axis is not in scope.

    Example:
        >>> from axonym_numpy import ones
        >>> x = ones((2, 3))
        >>> einsum("ij,kj->ik", x, x).shape
        (2, 2)
    """
    text, arrays, parsed = _prepared((subscripts, *operands))
    factors, truths = promote_factors("einsum", arrays)
    names = axes_in_scope(axis_names) if axis_names != () else ()
    shapes = tuple([x.aval.shape for x in arrays])
    dropped = _dropped(text, parsed, shapes)
    options = Options(precision, preferred_element_type)
    if len(factors) == 1:
        out = _one(factors[0], parsed.operands[0], parsed.out, names, options)
    elif len(factors) == 2:
        terms = [drop(*t) for t in zip(factors, parsed.operands, dropped, strict=True)]
        out, labels = _two(terms, parsed.kept, parsed.out, names, options)
        out = arrange(out, labels, parsed.out)
    else:
        path = _path(parsed, shapes, _hashable(optimize))
        out = _many(
            *factors, parsed=parsed, dropped=dropped, path=path, names=names, options=options
        )
    return truths_of(out) if truths else out


def _hashable(optimize: Any) -> Any:
    if isinstance(optimize, list | tuple):
        return tuple([tuple(s) if isinstance(s, list | tuple) else s for s in optimize])
    return optimize


def einsum_path(subscripts: Any, /, *operands: Any, optimize: Any = "auto") -> tuple[Any, str]:
    """The order in which `einsum` contracts, and a report on its cost.

    Args:
        subscripts: As of `einsum`.
        *operands: Arrays.
        optimize: As of `einsum`.

    Returns:
        List of the positions that are contracted in each step, and a text to print.

    Example:
        >>> from axonym_numpy import ones
        >>> x = ones((2, 2))
        >>> einsum_path("ij,jk,kl->il", x, x, x)[0]
        [(0, 1), (0, 1)]
    """
    text, arrays, _ = _prepared((subscripts, *operands))
    path, info = _order_finder().contract_path(
        text, *[a.shape for a in arrays], shapes=True, optimize=optimize
    )
    return path, str(info)
