"""Reading the signature of a program's `main` out of its text.

XLA does not say which types a compiled program takes and returns, and believes whatever is said
about its results, so that a wrong announcement would give arrays of the wrong shape. The text
knows: MLIR's verifier holds the signature against the program.

    >>> main_signature("func.func @main(%0: tensor<3xf32>) -> tensor<f32> { ... }")
    Signature(parameters=('tensor<3xf32>',), results=('tensor<f32>',), donated=())
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .errors import CompilationError

__all__ = ["Signature", "main_signature"]


class Signature(NamedTuple):
    """The types of a program.

    Attributes:
        parameters: Type of each parameter, as in `tensor<3xf32>`.
        results: Type of each result.
        donated: Which parameters give up their buffers to results.
    """

    parameters: tuple[str, ...]
    results: tuple[str, ...]
    donated: tuple[int, ...]


# Compiled at the first use (and kept by `re`), since that takes longer than importing this module.
_HEAD: Final = r"\bfunc\.func\s+(?:public\s+)?@main\s*\(\s*"
_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_TYPE: Final = r"(tensor<[^<>]*(?:<[^<>]*>)?>)"
_BRACES: Final = rf"\{{(?:[^{{}}\"]|{_STRING}|\{{(?:[^{{}}\"]|{_STRING})*\}})*\}}"
_LOC: Final = rf"(?:\s*loc\((?:[^()\"]|{_STRING})*\))?"
_PARAMETER: Final = rf"%[\w.$-]+\s*:\s*{_TYPE}\s*({_BRACES})?{_LOC}\s*(,|\))\s*"
_ARROW: Final = r"\s*->\s*"
_RESULT: Final = rf"{_TYPE}\s*(?:{_BRACES})?\s*(,|\))\s*"
_DONATION: Final = r"\b(?:tf\.aliasing_output|jax\.buffer_donor)\b(?!\s*=\s*false\b)"


def main_signature(text: str) -> Signature:
    """Read the signature of `main`.

    Args:
        text: A StableHLO module in its readable form, in which every parameter and result of
            `main` is a tensor.

    Raises:
        CompilationError: There is no such function in the text.
    """
    head = re.search(_HEAD, text)
    if head is None:
        raise CompilationError(
            "the program has no function 'main'; write it as "
            "`func.func public @main(%arg0: tensor<3xf32>) -> tensor<3xf32> { ... }`."
        )
    parameters: list[str] = []
    donated: list[int] = []
    at = head.end()
    if text.startswith(")", at):
        at += 1
    else:
        end = ","
        parameter_at = re.compile(_PARAMETER).match
        while end == ",":
            parameter = parameter_at(text, at)
            if parameter is None:
                raise _unreadable("parameter", len(parameters), text, at)
            kind, attributes, end = parameter.groups()
            if attributes is not None and re.search(_DONATION, attributes):
                donated.append(len(parameters))
            parameters.append(kind)
            at = parameter.end()
    return Signature(tuple(parameters), tuple(_results(text, at)), tuple(donated))


def _results(text: str, at: int) -> list[str]:
    arrow = re.compile(_ARROW).match(text, at)
    if arrow is None:
        return []
    at = arrow.end()
    if not text.startswith("(", at):
        only = re.compile(_TYPE).match(text, at)
        if only is None:
            raise _unreadable("result", 0, text, at)
        return [only.group(1)]
    at += 1
    results: list[str] = []
    end = ")" if text.startswith(")", at) else ","
    result_at = re.compile(_RESULT).match
    while end == ",":
        result = result_at(text, at)
        if result is None:
            raise _unreadable("result", len(results), text, at)
        kind, end = result.groups()
        results.append(kind)
        at = result.end()
    return results


def _unreadable(what: str, index: int, text: str, at: int) -> CompilationError:
    return CompilationError(
        f"{what} {index} of main is not readable at `{text[at : at + 60]}`; write it as a tensor "
        "without an encoding, as in `%arg0: tensor<3xf32>`."
    )
