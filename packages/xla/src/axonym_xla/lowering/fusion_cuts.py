"""Where fusions are cut.

XLA fuses element-wise operations into whatever reads their results, and where several operations
read one result, it computes it again in each. That is right for short expressions. Along a residual
stream, `x0 + a1 + a2 + …`, each layer would compute the sum again from the first layer on, so that
the program, its compilation and its running time grow with the square of the depth.

So a value that more than one operation reads is written to memory once, by an optimization barrier,
if one of these holds:

* To compute it again one would have to read `MAX_INPUTS` arrays of its size, or apply `MAX_STEPS`
  element-wise operations, counting back to values that are in memory anyway (results of
  contractions, reductions, loops, …).
* An element-wise operation made it, and one of its readers wants it in memory: a contraction, a
  loop. XLA would write it for that one, transposed as the case may be, and compute it again for the
  others.

Measured on the CPU platform with jaxlib 0.12 (time of the processor; the optimised program in kB):

| program | plain: compile, step, size | with cuts |
| --- | --- | --- |
| 12-layer transformer, training step | 3.3 s, 593 ms, 1083 kB | 1.7 s, 527 ms, 796 kB |
| the same, staged with more small operations | 12.9 s, 930 ms, 4269 kB | 2.2 s, 587 ms, 1296 kB |
| 4 steps of 4 coupled equations (ODE) on 1M points | 0.59 s, 66 ms, 156 kB | 0.27 s, 17 ms, 55 kB |
| 10 Newton iterations on 1M points | 0.07 s, 3.2 ms, 11 kB | 0.05 s, 1.9 ms, 13 kB |
| 5-layer MLP (relu, tanh or gelu), SGD or Adam | 0.4-0.9 s, 14-16 ms | the same |

Between 3 and 8 inputs and 8 and 64 steps the times hardly differ. Other platforms decide by their
own cost models and are left alone.

The analysis runs along with the lowering. Before, one backward sweep over each jaxpr counts the
readers of each value; calls that the compiler inlines are looked through. Its cost is linear in the
size of the program, because what is remembered of a value is bounded by the two limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from axonym_core.programs import Jaxpr, JaxprEqn, Kind, Literal, Var
from axonym_core.types import ShapedArray

from .call_counts import CallCounts

MAX_INPUTS: Final = 4
"""As many large inputs make an expression long."""

MAX_STEPS: Final = 16
"""As many element-wise operations make an expression long."""

IN_MEMORY: Final = 1 << 32
"""Added to a number of readers where one of them wants the value in memory."""

_CUT_PLATFORMS: Final = frozenset({"cpu"})

_FUSIBLE: Final = frozenset[Kind](("elementwise", "moving", "repeating"))


@final
class Expression:
    """What must be done to compute a value again: operations to apply, arrays to read.

    Operations and arrays are represented by numbers that are unique in a module.
    """

    __slots__ = ("inputs", "steps")

    def __init__(self, steps: set[int], inputs: set[int]) -> None:
        self.steps = steps
        self.inputs = inputs


LONG: Final = Expression(set(), set())
"""Any expression at or above the limits. What it consists of no longer matters."""


def _more(readers: int, others: int) -> int:
    """Sum of two numbers of readers."""
    total = (readers & ~IN_MEMORY) + (others & ~IN_MEMORY)
    return total | ((readers | others) & IN_MEMORY)


@final
class FusionCuts:
    """The decisions for one module.

    Args:
        counts: The calls in the module's program.
        platform: The platform to compile for.
    """

    __slots__ = ("_counts", "_enabled", "_next", "_readers")

    def __init__(self, counts: CallCounts, platform: str) -> None:
        self._counts = counts
        self._enabled = platform in _CUT_PLATFORMS
        self._readers: dict[Jaxpr, dict[Var, int]] = {}
        self._next = 0

    def readers(self, jaxpr: Jaxpr) -> Mapping[Var, int]:
        """How many operations read each variable; `IN_MEMORY` is added where one wants it there.

        Being a result counts as a reader. What only unread operations read is not read.
        """
        found = self._readers.get(jaxpr)
        if found is not None:
            return found
        counts: dict[Var, int] = {}
        get = counts.get
        for atom in jaxpr.outvars:
            if type(atom) is Var:
                counts[atom] = get(atom, 0) + 1
        for eqn in reversed(jaxpr.eqns):
            primitive = eqn.primitive
            if not any([v in counts for v in eqn.outvars]) and not eqn.effects:
                continue
            inner = self._counts.inlined(eqn)
            if inner is not None:
                inside = self.readers(inner)
                for atom, var in zip(eqn.invars, inner.invars, strict=True):
                    if type(atom) is Var:  # an argument that is not read is passed all the same
                        counts[atom] = _more(get(atom, 0), inside.get(var, 1))
                continue
            n = 1
            if primitive.kind == "contraction" or primitive.programs:
                n |= IN_MEMORY  # (a call comes to this only if it is kept)
            elif primitive.kind == "repeating":
                # What is read through an enlarging broadcast is better cut before it.
                n = get(eqn.outvars[0], 1)
            invars: Sequence[Any] = eqn.invars
            if len(invars) > 1:
                invars = dict.fromkeys([a for a in invars if type(a) is Var])  # type: ignore[assignment]  # narrowed
            for atom in invars:
                if type(atom) is Var:
                    counts[atom] = _more(get(atom, 0), n)
        self._readers[jaxpr] = counts
        return counts

    def must_cut(
        self,
        eqn: JaxprEqn,
        names: Sequence[str],
        result: str,
        readers: int,
        expressions: dict[str, Expression],
    ) -> bool:
        """Whether a barrier must follow an equation.

        Args:
            eqn: The equation, which has one result.
            names: Names of its operands.
            result: Name of its result.
            readers: How many operations read the result.
            expressions: What is known of the values of this block; updated. A value that it does
                not list is in memory.
        """
        kind = eqn.primitive.kind
        if not self._enabled or kind not in _FUSIBLE:
            return False
        if kind == "elementwise":
            if readers > IN_MEMORY + 1:
                return True
            self._next += 1
            steps = {self._next}
        else:
            steps = set()
        aval: ShapedArray = eqn.outvars[0].aval
        inputs: set[int] = set()
        for name, atom in zip(names, eqn.invars, strict=True):
            if type(atom) is Literal:
                continue
            expression = expressions.get(name)
            if expression is None:
                self._next += 1
                expression = expressions[name] = Expression(set(), {self._next})
            elif expression is LONG:
                break
            steps |= expression.steps
            if 2 * atom.aval.size >= aval.size:  # smaller ones cost next to nothing to read
                inputs |= expression.inputs
        else:
            if len(inputs) < MAX_INPUTS and len(steps) < MAX_STEPS:
                expressions[result] = Expression(steps, inputs)
                return False
        if readers & ~IN_MEMORY > 1 and kind != "repeating":
            return True
        expressions[result] = LONG
        return False


def result_readers(
    readers: Mapping[Var, int], jaxpr: Jaxpr, outer: Sequence[int] | None
) -> Mapping[Var, int]:
    """Readers of a jaxpr's variables where each result is read by `outer` operations."""
    if outer is None or all([n == 1 for n in outer]):
        return readers
    changed = dict(readers)
    for atom, n in zip(jaxpr.outvars, outer, strict=True):
        if type(atom) is Var and n:
            # `readers` counts being a result as one of them.
            changed[atom] = _more(changed.get(atom, 1) - 1, n)
    return changed
