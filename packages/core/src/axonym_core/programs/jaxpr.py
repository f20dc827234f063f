"""Jaxprs: staged programs, the intermediate representation of every transformation.

A `Jaxpr` is a list of equations over typed variables. It is immutable, hashable by identity and
closed: arrays that the traced function closed over are bound to `constvars`. Primitives with
functions inside (jit, scan, cond, …) hold jaxprs as parameters.

    { lambda ; a:f32[3]. let
        b:f32[3] = sin a
        c:f32[3] = mul b 2.0:f32[]
      in (c,) }
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar, final

from ..settings.caches import BoundedCache, exact
from ..types.avals import AxisName, ShapedArray
from .effects import NONE, Effect, Effects
from .naming import UNNAMED, DebugInfo
from .primitive import Primitive
from .source_info import SourceInfo

T = TypeVar("T")

_DERIVED_KEPT = 512


@final
class Var:
    """A variable: a type and an identity."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var(id={id(self)}):{self.aval.str_short()}"


@final
class Literal:
    """A scalar constant written in the place of an operand."""

    __slots__ = ("aval", "val")

    def __init__(self, val: Any, aval: ShapedArray) -> None:
        self.val = val
        self.aval = aval

    def __repr__(self) -> str:
        return f"{self.val}:{self.aval.str_short()}"


Atom = Var | Literal


@final
class JaxprEqn:
    """One application of a primitive."""

    __slots__ = ("invars", "outvars", "params", "primitive", "source")

    def __init__(
        self,
        primitive: Primitive,
        invars: tuple[Atom, ...],
        outvars: tuple[Var, ...],
        params: Mapping[str, Any],
        source: SourceInfo | None = None,
    ) -> None:
        self.primitive = primitive
        self.invars = invars
        self.outvars = outvars
        self.params = params
        self.source = source

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the place in the source, which is known in this process only."""
        return (JaxprEqn, (self.primitive, self.invars, self.outvars, dict(self.params)))

    @property
    def axes_communicated(self) -> frozenset[AxisName]:
        """Named axes whose indices learn of each other's operands by this application.

        A sum over an axis that its operand does not vary over multiplies by the axis's size, and
        tells an index nothing of the others.
        """
        primitive = self.primitive
        axes = frozenset[AxisName]()
        if primitive.programs:
            inner = programs_in(primitive, self.params)
            axes = axes.union(*[p.axes_communicated for p in inner])
        if primitive.uses_axes is not None and primitive.communicates:
            varied = frozenset[AxisName]().union(*[a.aval.names for a in self.invars])
            axes |= varied.intersection(primitive.uses_axes(self.params))
        return axes

    @property
    def effects(self) -> Effects:
        """What it does besides giving results."""
        return effects_of(self.primitive, self.params)


@final
class Jaxpr:
    """A staged program.

    Attributes:
        invars: Variables of the arguments.
        outvars: Variables or literals of the results.
        eqns: Equations in order of execution.
        constvars: Variables of the constants.
        consts: The values of the constants (arrays; tracers while an outer trace is open).
        debug: Names of the traced function and of its arguments, for messages.
        axes_used: Named axes to which equations refer by name.
        effects: What its equations do besides giving results.
    """

    __slots__ = (
        "__weakref__",
        "_derived",
        "axes_used",
        "consts",
        "constvars",
        "debug",
        "effects",
        "eqns",
        "in_avals",
        "invars",
        "out_avals",
        "outvars",
    )

    def __init__(
        self,
        invars: Iterable[Var],
        outvars: Iterable[Atom],
        eqns: Iterable[JaxprEqn],
        constvars: Iterable[Var] = (),
        consts: Iterable[Any] = (),
        *,
        debug: DebugInfo | None = None,
    ) -> None:
        self.invars = tuple(invars)
        self.outvars = tuple(outvars)
        self.eqns = tuple(eqns)
        self.constvars = tuple(constvars)
        self.consts = tuple(consts)
        self.debug = debug if debug is not None else UNNAMED
        self._derived: BoundedCache[Any] | None = None
        self.in_avals = tuple([v.aval for v in self.invars])
        self.out_avals = tuple([v.aval for v in self.outvars])
        used: set[AxisName] = set()
        effects: set[Effect] = set()
        for eqn in self.eqns:
            primitive = eqn.primitive
            if primitive.plain:
                continue
            if primitive.uses_axes is not None:
                used.update(primitive.uses_axes(eqn.params))
            effects |= primitive.effects
            for program in programs_in(primitive, eqn.params):
                used |= program.axes_used
                effects |= program.effects
        self.axes_used: frozenset[AxisName] = frozenset(used)
        self.effects: Effects = frozenset(effects)

    def replace(self, **changes: Any) -> Jaxpr:
        """Return the jaxpr with some of its parts replaced."""
        parts = {
            "invars": self.invars,
            "outvars": self.outvars,
            "eqns": self.eqns,
            "constvars": self.constvars,
            "consts": self.consts,
            "debug": self.debug,
        }
        return Jaxpr(**{**parts, **changes})

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.invars, self.outvars, self.eqns, self.constvars, self.consts)
        return (partial(Jaxpr, debug=self.debug), parts)

    def __copy__(self) -> Jaxpr:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Jaxpr:
        """Itself: it is immutable."""
        return self

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was derived from this program under a key; made at first, and kept with it.

        A program that is differentiated or mapped twice gives the same program both times, so that
        it is compiled once. The key starts with a word for the kind of derivation.
        """
        if self._derived is None:
            self._derived = BoundedCache(_DERIVED_KEPT)
        key = exact(key)
        found = self._derived.get(key)
        if found is None:
            found = self._derived.first(key, make())
        return found  # type: ignore[no-any-return]  # the key tells the type

    def lifted(self) -> Jaxpr:
        """The same program with its constants as leading arguments (always the same object)."""
        if not self.constvars:
            return self
        return self.derived("lifted", self._lift)

    def _lift(self) -> Jaxpr:
        return Jaxpr(
            (*self.constvars, *self.invars),
            self.outvars,
            self.eqns,
            debug=self.debug.with_leading(len(self.constvars)),
        )

    @property
    def axes_communicated(self) -> frozenset[AxisName]:
        """Named axes over which indices learn of each other's values (see `JaxprEqn`)."""
        if not self.axes_used:
            return self.axes_used
        return self.derived(
            "axes communicated",
            lambda: frozenset().union(*[eqn.axes_communicated for eqn in self.eqns]),
        )

    @property
    def name(self) -> str:
        """Name of the traced function."""
        return self.debug.name


class ProgramHolder:
    """A parameter of an equation that holds a program and is called as one."""

    __slots__ = ("jaxpr",)

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.jaxpr = jaxpr

    def holding(self, jaxpr: Jaxpr) -> ProgramHolder:
        """The same parameter with another program in it."""
        return type(self)(jaxpr)


def programs_in(primitive: Primitive, params: Mapping[str, Any]) -> list[Jaxpr]:
    """Programs that an application of a primitive holds, in the parameters that it declares."""
    found: list[Jaxpr] = []
    for name in primitive.programs:
        _collect(params[name], found)
    return found


def _collect(value: Any, found: list[Jaxpr]) -> None:
    if isinstance(value, Jaxpr):
        found.append(value)
    elif isinstance(value, ProgramHolder):
        found.append(value.jaxpr)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, found)


def map_programs(
    primitive: Primitive, params: Mapping[str, Any], change: Callable[[Jaxpr], Jaxpr]
) -> Mapping[str, Any]:
    """Parameters in which the programs that an application holds are changed."""
    if not primitive.programs:
        return params
    return {**params, **{name: _mapped(params[name], change) for name in primitive.programs}}


def _mapped(value: Any, change: Callable[[Jaxpr], Jaxpr]) -> Any:
    if isinstance(value, Jaxpr):
        return change(value)
    if isinstance(value, ProgramHolder):
        return value.holding(change(value.jaxpr))
    if isinstance(value, tuple):
        return tuple([_mapped(item, change) for item in value])
    return value


def axes_used(primitive: Primitive, params: Mapping[str, Any]) -> frozenset[AxisName]:
    """Axis names that an application refers to, in its parameters or in programs there."""
    own = frozenset[AxisName]() if primitive.uses_axes is None else primitive.uses_axes(params)
    return frozenset(own).union(*[p.axes_used for p in programs_in(primitive, params)])


def effects_of(primitive: Primitive, params: Mapping[str, Any]) -> Effects:
    """Effects of an application, those of programs in its parameters included."""
    if primitive.plain:
        return NONE
    return primitive.effects.union(*[p.effects for p in programs_in(primitive, params)])
