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
from typing import Any, NamedTuple

from axonym_core.array import Array
from axonym_core.avals import AxisName, aval_of
from axonym_core.errors import ShapeError
from axonym_core.lax.reductions import axes_in_scope

from .composites import composite
from .errors import ArgumentError
from .labelled_contraction import (
    Labels,
    Options,
    arrange,
    contract,
    drop_single,
    merge_repeated,
    promote_factors,
    reduce_one,
    truths_of,
)
from .operands import array_of

__all__ = ["einsum", "einsum_path"]


class _Parsed(NamedTuple):
    """Labels of the operands and of the result. Those of an ellipsis are negative."""

    operands: tuple[Labels, ...]
    out: Labels


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
        return _Parsed(operands, (*hidden, *once))
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
    return _Parsed(operands, out)


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


def _sizes(subscripts: str, parsed: _Parsed, operands: Sequence[Any]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for labels, x in zip(parsed.operands, operands, strict=True):
        for v, n in zip(labels, aval_of(x).shape, strict=True):
            known = sizes.setdefault(v, n)
            if known != n:
                if 1 not in (known, n):
                    shapes = ", ".join(str(aval_of(x)) for x in operands)
                    name = repr(chr(v)) if v >= 0 else "a dimension of '...'"
                    raise ShapeError(
                        f"einsum: {name} of {subscripts!r} has sizes {known} and {n} in operands "
                        f"of types {shapes}; sizes of one letter have to be equal or 1"
                    )
                sizes[v] = n if known == 1 else known
    return sizes


Path = tuple[tuple[int, ...], ...]


@lru_cache(maxsize=1024)
def _path(parsed: _Parsed, shapes: tuple[tuple[int, ...], ...], optimize: Any) -> Path:
    """Which operands to contract one after the other; results go to the end of the list."""
    n = len(shapes)
    if n <= 2 or optimize is False:
        return ((0, 1),) * (n - 1)
    import opt_einsum  # only products of three operands or more need it

    letters: dict[int, str] = {}

    def term(labels: Labels) -> str:
        return "".join([letters.setdefault(v, opt_einsum.get_symbol(len(letters))) for v in labels])

    equation = ",".join([term(labels) for labels in parsed.operands]) + "->" + term(parsed.out)
    how: Any = "auto" if optimize is True else optimize
    path, _ = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=how)
    return tuple([tuple(step) for step in path])


@composite("parsed", "sizes", "path", "names", "options")
def _contract_all(
    *operands: Any,
    parsed: _Parsed,
    sizes: tuple[tuple[int, int], ...],
    path: Path,
    names: tuple[AxisName, ...],
    options: Options,
) -> Array:
    known = dict(sizes)
    terms = []
    for x, labels in zip(operands, parsed.operands, strict=True):
        terms.append(merge_repeated(*drop_single(x, labels, known)))
    for step in path:
        chosen = [terms[i] for i in step]
        for i in sorted(step, reverse=True):
            del terms[i]
        keep = {*parsed.out, *[v for _, labels in terms for v in labels]}
        last = not terms
        while len(chosen) > 1:
            (x, x_labels), (y, y_labels), *rest = chosen
            others = keep | {v for _, labels in rest for v in labels}
            final = last and not rest
            product = contract(
                x,
                x_labels,
                y,
                y_labels,
                others,
                parsed.out if final else (),
                names if final else (),
                options,
            )
            chosen = [product, *rest]
        terms.append(chosen[0])
    ((out, labels),) = terms
    if not path:
        out, labels = reduce_one(out, labels, parsed.out, names)
    return arrange(out, labels, parsed.out)


def _prepared(args: tuple[Any, ...]) -> tuple[str, list[Any], _Parsed]:
    if not args:
        raise ArgumentError(
            "einsum: no subscripts and no operands; write einsum('ij,jk->ik', x, y)"
        )
    subscripts, operands = (args[0], args[1:]) if isinstance(args[0], str) else _interleaved(args)
    if not operands:
        raise ArgumentError(f"einsum: subscripts={subscripts!r} come without operands")
    arrays = [array_of("einsum", x, f"operand {i}") for i, x in enumerate(operands)]
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
    sizes = _sizes(text, parsed, factors)
    shapes = tuple([aval_of(x).shape for x in factors])
    out = _contract_all(
        *factors,
        parsed=parsed,
        sizes=tuple(sizes.items()),
        path=_path(parsed, shapes, _hashable(optimize)),
        names=names,
        options=Options(precision, preferred_element_type),
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
    import opt_einsum  # as above

    text, arrays, _ = _prepared((subscripts, *operands))
    path, info = opt_einsum.contract_path(
        text, *[a.shape for a in arrays], shapes=True, optimize=optimize
    )
    return path, str(info)
