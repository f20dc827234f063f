"""Where fusions are cut, and which functions the compiler keeps.

XLA fuses element-wise operations into whatever reads their results, and where several operations
read one result, it computes it again in each. That is right for short expressions. Along a residual
stream, `x0 + a1 + a2 + …`, each layer would compute the sum again from the first layer on, so that
the program, its compilation and its running time grow with the square of the depth.

So a value is written to memory once, by an optimization barrier, if

* more than one operation reads it, and
* to compute it again one would have to read `MAX_INPUTS` arrays of its size or apply `MAX_STEPS`
  element-wise operations, counting back to values that are in memory anyway (results of
  contractions, reductions, loops, …).

Measured on the CPU platform with jaxlib 0.12 (time of the processor; the optimised program in kB):

| program | plain: compile, step, size | cut |
| --- | --- | --- |
| 12-layer transformer, training step | 12.9 s, 930 ms, 4269 kB | 2.2 s, 587 ms, 1296 kB |
| 4 coupled element-wise steps (ODE) on 1M points | 0.59 s, 66 ms, 156 kB | 0.27 s, 17 ms, 55 kB |
| 10 Newton iterations on 1M points | 0.07 s, 3.2 ms, 11 kB | 0.05 s, 1.9 ms, 13 kB |
| 5-layer MLP (relu or gelu), SGD | 0.5 s, 14.7 ms | not cut |
| the same with Adam | 0.8 s, 16.2 ms, 79 kB | 0.8 s, 15.9 ms, 79 kB |

Between 3 and 8 inputs and 16 and 64 steps the times hardly differ. Other platforms decide by their
own cost models and are left alone.

The analysis runs along with the lowering. Before, one backward sweep over each jaxpr counts the
readers of each value; calls that the compiler inlines are looked through. Its cost is linear in the
size of the program, because what is remembered of a value is bounded by the two limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from axonym_core.avals import ShapedArray
from axonym_core.jaxpr import Jaxpr, JaxprEqn, Literal, Var
from axonym_core.primitive import Primitive
from axonym_core.primitives import calls, elementwise, shape

MAX_INPUTS: Final = 4
"""As many large inputs make an expression long."""

MAX_STEPS: Final = 16
"""As many element-wise operations make an expression long."""

_CUT_PLATFORMS: Final = frozenset({"cpu"})

_ELEMENTWISE: Final = frozenset(p for p in vars(elementwise).values() if isinstance(p, Primitive))
_MOVING: Final = frozenset(
    {
        shape.broadcast_in_dim_p,
        shape.reshape_p,
        shape.transpose_p,
        shape.squeeze_p,
        shape.concatenate_p,
        shape.pad_p,
        shape.slice_p,
        shape.rev_p,
    }
)
_FUSIBLE: Final = _ELEMENTWISE | _MOVING
_CUSTOM_CALLS: Final = frozenset({calls.custom_jvp_call_p, calls.custom_vjp_call_p})


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


@final
class FusionCuts:
    """The decisions for one module.

    Args:
        jaxpr: The module's program.
        platform: The platform to compile for.
    """

    __slots__ = ("_call_counts", "_enabled", "_inlined", "_next", "_readers")

    def __init__(self, jaxpr: Jaxpr, platform: str) -> None:
        self._enabled = platform in _CUT_PLATFORMS
        self._call_counts: dict[Jaxpr, int] = {}
        self._inlined: dict[Jaxpr, int] = {}
        self._readers: dict[Jaxpr, dict[Var, int]] = {}
        self._next = 0
        self._count_calls(jaxpr)

    def calls(self, jaxpr: Jaxpr) -> int:
        """From how many places the function of a jaxpr is called (2 stands for more)."""
        return self._call_counts.get(jaxpr, 0)

    def _count_calls(self, jaxpr: Jaxpr) -> None:
        for eqn in jaxpr.eqns:
            params = eqn.params
            for value in params.values():
                if type(value) is Jaxpr:
                    self._count(eqn, value)
                elif type(value) is tuple:
                    for item in value:
                        if type(item) is Jaxpr:
                            self._count(eqn, item)
            if eqn.primitive in _CUSTOM_CALLS:
                self._count(eqn, params["call"].jaxpr)

    def _count(self, eqn: JaxprEqn, jaxpr: Jaxpr) -> None:
        counts = self._call_counts if eqn.primitive is calls.jit_p else self._inlined
        seen = counts[jaxpr] = counts.get(jaxpr, 0) + 1
        # A function's calls count once; what is inlined twice makes its calls twice.
        if seen == 1 or (seen == 2 and counts is self._inlined):
            self._count_calls(jaxpr)

    def readers(self, jaxpr: Jaxpr) -> Mapping[Var, int]:
        """How many operations read each variable.

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
            if not any([v in counts for v in eqn.outvars]):
                continue
            inner = self.transparent(eqn)
            if inner is not None:
                inside = self.readers(inner)
                for atom, var in zip(eqn.invars, inner.invars, strict=True):
                    if type(atom) is Var:
                        counts[atom] = get(atom, 0) + (inside.get(var) or 1)  # it is passed
                continue
            # What is read through an enlarging broadcast is better cut before it.
            n = counts[eqn.outvars[0]] if primitive is shape.broadcast_in_dim_p else 1
            invars = eqn.invars
            if len(invars) > 1:
                invars = tuple(dict.fromkeys([a for a in invars if type(a) is Var]))
            for atom in invars:
                if type(atom) is Var:
                    counts[atom] = get(atom, 0) + n
        self._readers[jaxpr] = counts
        return counts

    def transparent(self, eqn: JaxprEqn) -> Jaxpr | None:
        """The jaxpr of a call that the compiler inlines, so that its body fuses with the caller."""
        if eqn.primitive is calls.jit_p:
            jaxpr: Jaxpr = eqn.params["jaxpr"]
            return jaxpr if self._call_counts.get(jaxpr, 0) <= 1 else None
        if eqn.primitive in _CUSTOM_CALLS:
            inner: Jaxpr = eqn.params["call"].jaxpr
            return inner
        return None

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
        primitive = eqn.primitive
        if not self._enabled or primitive not in _FUSIBLE:
            return False
        aval: ShapedArray = eqn.outvars[0].aval
        self._next += 1
        steps = {self._next} if primitive in _ELEMENTWISE else set()
        inputs: set[int] = set()
        long = False
        for name, atom in zip(names, eqn.invars, strict=True):
            if type(atom) is Literal:
                continue
            expression = expressions.get(name)
            if expression is None:
                self._next += 1
                expression = expressions[name] = Expression(set(), {self._next})
            elif expression is LONG:
                long = True
                break
            steps |= expression.steps
            if 2 * atom.aval.size >= aval.size:  # smaller ones cost next to nothing to read
                inputs |= expression.inputs
        if long or len(inputs) >= MAX_INPUTS or len(steps) >= MAX_STEPS:
            if readers > 1 and primitive is not shape.broadcast_in_dim_p:
                return True
            expressions[result] = LONG
        else:
            expressions[result] = Expression(steps, inputs)
        return False


def result_readers(
    readers: Mapping[Var, int], jaxpr: Jaxpr, outer: Sequence[int] | None
) -> Mapping[Any, int]:
    """Readers of a jaxpr's variables where its results are read `outer` times each."""
    if outer is None or all(n <= 1 for n in outer):
        return readers
    changed = dict(readers)
    for atom, n in zip(jaxpr.outvars, outer, strict=True):
        if type(atom) is Var:
            changed[atom] = changed.get(atom, 0) + n - 1
    return changed
