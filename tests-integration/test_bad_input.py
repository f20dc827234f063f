"""Bad input: a typed error that names what was given and says how to mend it.

Each case is a program with a mistake in it, the class of the error, words that its message must
contain, and words that it must not (names of our own insides).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from axonym_autodiff import (
    AutodiffError,
    CustomRuleError,
    NotDifferentiableError,
    NotLinearError,
    custom_jvp,
    custom_vjp,
    grad,
    jvp,
    linear_transpose,
    linearize,
    value_and_grad,
    vjp,
)
from axonym_compile import CompileError, jit
from axonym_compile.errors import ArgumentError, StaticArgumentError
from axonym_core import AxonymError, ShapeDtypeStruct, config, lax, make_jaxpr
from axonym_core.errors import (
    AxisNameError,
    ConcretizationError,
    DTypeError,
    NonConcreteBooleanIndexError,
    ShapeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    TracerLeakError,
    TreeStructureError,
)
from axonym_mapping import MappedAxisError, vmap, xmap

XS = np.arange(3.0, dtype=np.float32)

OURS = ("Tracer object", "JvpTracer", "BatchTracer", "of_chosen", "<locals>.both", "assert")


class Case(NamedTuple):
    run: Callable[[], Any]
    error: type[Exception]
    contains: tuple[str, ...]


def double(x: Any) -> Any:
    return x * 2.0


def relu(x: Any, slope: Any) -> Any:
    return x if x > 0 else slope * x


def loss(params: Any, x: Any) -> Any:
    return lax.reduce_sum(params["w"] * x, (0,))


def per_row(x: Any) -> Any:
    return lax.psum(x, "rows")


CONTROL_FLOW = {
    "if under jit": Case(
        lambda: jit(relu)(1.0, 2.0),
        TracerBoolConversionError,
        ("argument x of relu", "lax.cond", "static"),
    ),
    "if under vmap": Case(
        lambda: vmap(relu, (0, None))(XS, 2.0),
        TracerBoolConversionError,
        ("mapped over an axis of size 3", "lax.cond"),
    ),
    "range of a traced number": Case(
        lambda: jit(lambda count: sum(range(count)))(3),
        TracerIntegerConversionError,
        ("argument count", "static"),
    ),
    "traced shape": Case(
        lambda: jit(lambda n: lax.full((n,), 0.0))(3),
        TracerIntegerConversionError,
        ("argument n", "static"),
    ),
    "index of a list": Case(
        lambda: jit(lambda i: [1.0, 2.0][i])(0),
        TracerIntegerConversionError,
        ("argument i", "static"),
    ),
    "NumPy function": Case(
        lambda: jit(lambda x: np.sin(x))(XS),
        TracerArrayConversionError,
        ("argument x", "axonym.numpy"),
    ),
    "float": Case(
        lambda: jit(lambda x: float(x))(1.0),
        ConcretizationError,
        ("float()", "argument x", "astype"),
    ),
    "boolean mask": Case(
        lambda: jit(lambda x: x[x > 0])(XS),
        NonConcreteBooleanIndexError,
        ("f32[3]", "argument x", "where"),
    ),
    "while_loop in reverse": Case(
        lambda: grad(lambda x: lax.while_loop(lambda s: s < 9.0, lambda s: s * x, x))(2.0),
        NotLinearError,
        ("while_loop", "number of steps", "scan", "fori_loop", __file__),
    ),
    "fori_loop with a traced bound in reverse": Case(
        lambda: jit(grad(lambda x, n: lax.fori_loop(0, n, lambda i, t: t * x, x)))(2.0, 3),
        NotLinearError,
        ("while_loop", "fori_loop with Python integers"),
    ),
    "carry of another dtype": Case(
        lambda: lax.scan(lambda carry, x: (carry + 1.5, None), np.int32(0), XS),
        DTypeError,
        ("scan", "carry", "i32[]", "f32[]", "astype('int32')"),
    ),
    "carry of another shape": Case(
        lambda: lax.scan(lambda c, x: ({"h": lax.broadcast(c["h"], (2,))}, None), {"h": 1.0}, XS),
        ShapeError,
        ("carry['h']", "f64[]", "f32[2]", "shape"),
    ),
    "carry of another structure": Case(
        lambda: lax.scan(lambda c, x: ((c, c), None), 1.0, XS),
        TreeStructureError,
        ("scan", "carry", "return it as it came in"),
    ),
    "state of another structure": Case(
        lambda: lax.while_loop(lambda s: s[0] < 3, lambda s: s[0], (1, 2)),
        TreeStructureError,
        ("while_loop", "return it as it came in"),
    ),
    "branches of different structure": Case(
        lambda: lax.cond(True, lambda x: (x, x), lambda x: x, 1.0),
        TreeStructureError,
        ("cond", "differ in structure", "same containers"),
    ),
    "branches of different shape": Case(
        lambda: lax.cond(True, lambda x: x, lambda x: lax.broadcast(x, (2,)), 1.0),
        TypeError,
        ("cond", "f32[2]", "f64[]", "broadcast"),
    ),
    "condition that is an array": Case(
        lambda: lax.cond(XS > 0, lambda x: x, lambda x: x, 1.0),
        TypeError,
        ("pred must be 0-d", "bool[3]", "where"),
    ),
}


def leaked(transform: Callable[[Callable[..., Any]], Any], *args: Any) -> Any:
    """A value that a function stored while it was transformed."""
    box: list[Any] = []

    def leaky_step(x: Any) -> Any:
        box.append(x * 2.0)
        return x + 1.0

    transform(leaky_step)(*args)
    return box[0]


def closing_over(value: Any, transform: Callable[[Callable[..., Any]], Any]) -> Any:
    return transform(lambda x: x + value)(XS)


LEAKS = {
    "out of jit": Case(
        lambda: lax.sin(leaked(jit, np.ones((3, 5), np.float32))),
        TracerLeakError,
        ("leaky_step", "f32[3,5]", "Return it", __file__),
    ),
    "out of vmap": Case(
        lambda: leaked(vmap, XS) + 1.0,
        TracerLeakError,
        ("vmap(leaky_step)", "f32[]", "Return it"),
    ),
    "out of xmap": Case(
        lambda: leaked(lambda f: xmap(f, {0: "i"}, {0: "i"}), XS) + 1.0,
        TracerLeakError,
        ("xmap(leaky_step)", "Return it"),
    ),
    "out of grad": Case(
        lambda: leaked(grad, 1.0) + 1.0,
        TracerLeakError,
        ("grad(leaky_step)", "Return it"),
    ),
    "out of jvp": Case(
        lambda: leaked(lambda f: lambda x: jvp(f, (x,), (x,)), 1.0) + 1.0,
        TracerLeakError,
        ("jvp(leaky_step)", "Return it"),
    ),
    "out of linearize": Case(
        lambda: leaked(lambda f: lambda x: linearize(f, x), 1.0) + 1.0,
        TracerLeakError,
        ("linearize(leaky_step)", "Return it"),
    ),
    "out of a scan": Case(
        lambda: (
            leaked(lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2), 1.0)
            + 1.0
        ),
        TracerLeakError,
        ("leaky_step", "Return it"),
    ),
    "into another jit": Case(
        lambda: closing_over(leaked(jit, XS), jit),
        TracerLeakError,
        ("leaky_step", "Return it"),
    ),
    "into another vmap": Case(
        lambda: closing_over(leaked(vmap, XS), vmap),
        TracerLeakError,
        ("leaky_step", "Return it"),
    ),
    "as a truth value": Case(
        lambda: bool(leaked(vmap, XS)), TracerLeakError, ("leaky_step", "Return it")
    ),
    "as a NumPy array": Case(
        lambda: np.asarray(leaked(vmap, XS)), TracerLeakError, ("leaky_step", "Return it")
    ),
}

TREES = {
    "cotangent": Case(
        lambda: vjp(lambda x: (x, x), 1.0)[1](1.0),
        TreeStructureError,
        ("vjp", "cotangent", "one cotangent per result"),
    ),
    "shape of a cotangent": Case(
        lambda: vjp(lambda x: {"a": x}, XS)[1]({"a": np.ones(2, np.float32)}),
        ShapeError,
        ("cotangent['a']", "(2,)", "(3,)"),
    ),
    "dtype of a cotangent": Case(
        lambda: vjp(lambda x: x, XS)[1](np.ones(3)),
        NotDifferentiableError,
        ("cotangent", "float64", "astype('float32')"),
    ),
    "tangents": Case(
        lambda: jvp(lambda p: p["a"], ({"a": 1.0},), ({"b": 1.0},)),
        TreeStructureError,
        ("primals and tangents of <lambda>", "one tangent per primal"),
    ),
    "tangents that are no tuple": Case(
        lambda: jvp(double, 1.0, 1.0), TypeError, ("primals", "tuple", "jvp(f, (x,), (t,))")
    ),
    "shape of a tangent": Case(
        lambda: jvp(lambda p: p["w"], ({"w": XS},), ({"w": np.ones(2, np.float32)},)),
        ShapeError,
        ("tangents[0]['w']", "(2,)", "(3,)"),
    ),
    "in_axes": Case(
        lambda: vmap(lambda p: p["b"], in_axes=({"w": 0},))({"w": XS, "b": XS}),
        TreeStructureError,
        ("in_axes[0]", "['w']", "['b', 'w']"),
    ),
    "in_axes of another length": Case(
        lambda: vmap(loss, in_axes=(0,))({"w": XS}, XS),
        MappedAxisError,
        ("vmap(loss)", "in_axes has 1 entries", "2 positional arguments", "one entry per"),
    ),
    "out_axes": Case(
        lambda: vmap(lambda x: (x, x), out_axes=(0, 0, 0))(XS),
        TreeStructureError,
        ("out_axes", "length 3", "length 2"),
    ),
    "xmap in_axes": Case(
        lambda: xmap(lambda a, b: a, in_axes=({0: "i"},), out_axes={0: "i"})(XS, XS),
        TreeStructureError,
        ("in_axes", "length 1", "length 2"),
    ),
    "xmap out_axes": Case(
        lambda: xmap(lambda a: (a, a), in_axes={0: "i"}, out_axes=({0: "i"},))(XS),
        TreeStructureError,
        ("out_axes", "length 1", "length 2"),
    ),
    "cotangents of a custom rule": Case(
        lambda: grad(broken_vjp(lambda r, ct: (ct, ct)))(1.0),
        CustomRuleError,
        ("backward rule of double", "tuple of 1", "2 of them"),
    ),
    "shape of a custom cotangent": Case(
        lambda: grad(broken_vjp(lambda r, ct: (lax.broadcast(ct, (2,)),)))(1.0),
        CustomRuleError,
        ("f64[2]", "f64[]", "shapes must agree"),
    ),
    "shape of a custom tangent": Case(
        lambda: grad(broken_jvp(lambda p, t: (p[0], lax.broadcast(t[0], (2,)))))(1.0),
        CustomRuleError,
        ("double", "f64[2]", "shapes must agree"),
    ),
    "custom function without a rule": Case(
        lambda: custom_vjp(double)(1.0), CustomRuleError, ("double", "no rule", "defvjp")
    ),
}


def broken_vjp(backward: Callable[..., Any]) -> Any:
    fun = custom_vjp(double)
    fun.defvjp(lambda x: (double(x), None), backward)
    return fun


def broken_jvp(rule: Callable[..., Any]) -> Any:
    fun = custom_jvp(double)
    fun.defjvp(rule)
    return fun


AXIS_NAMES = {
    "unknown in vmap": Case(
        lambda: vmap(per_row, axis_name="cols")(XS),
        AxisNameError,
        ("'rows'", "'cols'", "vmap(..., axis_name='rows')"),
    ),
    "unknown outside": Case(
        lambda: lax.pmean(XS, "rows"), AxisNameError, ("'rows'", "in scope: none", "vmap")
    ),
    "unknown under jit": Case(
        lambda: jit(lambda v: lax.axis_index("rows") + v)(XS), AxisNameError, ("'rows'", "vmap")
    ),
    "unknown in reduce_axes": Case(
        lambda: grad(double, reduce_axes="rows")(1.0), AxisNameError, ("'rows'", "vmap")
    ),
    "unknown in a reduction": Case(
        lambda: lax.reduce_sum(XS, (0,), "rows"), AxisNameError, ("'rows'", "vmap")
    ),
    "unknown in out_axes": Case(
        lambda: xmap(double, in_axes=["i"], out_axes=["i", "k"])(XS),
        MappedAxisError,
        ("axis 'k'", "out_axes", "axis_sizes"),
    ),
    "not hashable": Case(
        lambda: vmap(double, axis_name=["i"])(XS),
        AxisNameError,
        ("['i']", "hashable"),  # type: ignore[arg-type]
    ),
    "shadowed by vmap": Case(
        lambda: vmap(vmap(double, axis_name="i"), axis_name="i")(np.ones((2, 3))),
        AxisNameError,
        ("'i'", "size 2", "shadow", "another axis_name"),
    ),
    "shadowed by xmap": Case(
        lambda: vmap(xmap(double, {0: "i"}, {0: "i"}), axis_name="i")(np.ones((2, 3))),
        AxisNameError,
        ("'i'", "shadow", "another"),
    ),
    "shadowed in axis_env": Case(
        lambda: make_jaxpr(double, axis_env=[("i", 2), ("i", 3)])(1.0),
        AxisNameError,
        ("'i'", "shadow"),
    ),
    "named twice": Case(
        lambda: vmap(lambda x: lax.psum(x, ("i", "i")), axis_name="i")(XS),
        AxisNameError,
        ("('i', 'i')", "twice", "once"),
    ),
    "cotangent of one value that varies": Case(
        lambda: vmap(
            lambda x: vjp(lambda w: w * 2.0, np.float32(1.0), reduce_axes="i")[1](x)[0],
            axis_name="i",
        )(XS),
        AxisNameError,
        ("cotangent", "axis 'i'", "reduce_axes", "psum"),
    ),
}

AXIS_SIZES = {
    "arguments that disagree": Case(
        lambda: vmap(loss)({"w": np.ones((3, 2))}, np.ones((4, 2))),
        MappedAxisError,
        ("vmap(loss)", "args[0]['w'] has size 3", "args[1] has size 4", "in_axes=None"),
    ),
    "axis_size that disagrees": Case(
        lambda: vmap(double, axis_size=4)(XS),
        MappedAxisError,
        ("args[0] has size 3", "axis_size=4"),
    ),
    "negative axis_size": Case(
        lambda: vmap(lambda: 1.0, axis_size=-1)(), MappedAxisError, ("axis_size=-1", "negative")
    ),
    "dimension that does not exist": Case(
        lambda: vmap(double, in_axes=1)(XS),
        MappedAxisError,
        ("dimension 1", "args[0]", "f32[3]", "None"),
    ),
    "a number": Case(
        lambda: vmap(double)(1.0), MappedAxisError, ("dimension 0", "args[0]", "f64[]", "None")
    ),
    "no array": Case(
        lambda: vmap(double)("abc"), MappedAxisError, ("args[0]", "str", "'abc'", "None")
    ),
    "nothing mapped": Case(
        lambda: vmap(double, in_axes=None)(XS),
        MappedAxisError,
        ("no argument is mapped", "axis_size="),
    ),
    "boolean axis": Case(
        lambda: vmap(double, in_axes=True)(np.ones((2, 2))), TypeError, ("in_axes", "True")
    ),
    "boolean result axis": Case(
        lambda: vmap(double, out_axes=False)(XS), TypeError, ("out_axes", "False")
    ),
    "xmap arguments that disagree": Case(
        lambda: xmap(lambda a, b: a, in_axes=(["i"], {1: "i"}), out_axes=["i"])(
            XS, np.ones((2, 4))
        ),
        MappedAxisError,
        ("axis 'i'", "size 3 in dimension 0 of args[0]", "size 4 in dimension 1 of args[1]"),
    ),
    "xmap axis_sizes that disagree": Case(
        lambda: xmap(double, in_axes=["i"], out_axes=["i"], axis_sizes={"i": 4})(XS),
        MappedAxisError,
        ("axis 'i'", "size 3", "axis_sizes says 4"),
    ),
    "xmap names of another rank": Case(
        lambda: xmap(double, in_axes=["i"], out_axes=["i"])(np.ones((2, 3))),
        MappedAxisError,
        ("args[0] has 2 dimensions", "['i']", "`...`"),
    ),
}

OUTPUTS = {
    "out_axes=None": Case(
        lambda: vmap(lambda x: {"loss": (x, 1.0)}, out_axes=None, axis_name="batch")(XS),
        MappedAxisError,
        ("result['loss'][0]", "axis 'batch'", "psum", "out_axes"),
    ),
    "out_axes=None without a name": Case(
        lambda: vmap(double, out_axes=None)(XS), MappedAxisError, ("result", "psum", "out_axes")
    ),
    "xmap": Case(
        lambda: xmap(lambda x: {"loss": x}, in_axes={0: "batch"}, out_axes={})(XS),
        MappedAxisError,
        ("result['loss']", "axis 'batch'", "psum(x, 'batch')", "list the axis"),
    ),
    "per-example gradients": Case(
        lambda: vmap(grad(lambda w, x: w * x), (None, 0), None, axis_name="batch")(1.0, XS),
        MappedAxisError,
        ("axis 'batch'", "out_axes"),
    ),
}

GRADIENTS = {
    "loss that is a vector": Case(
        lambda: grad(double)(XS),
        NotDifferentiableError,
        ("double must return a scalar", "f32[3]", "sum or mean"),
    ),
    "loss that is a pair": Case(
        lambda: grad(lambda w: (w, w))(1.0), NotDifferentiableError, ("one scalar", "has_aux=True")
    ),
    "loss that is an integer": Case(
        lambda: grad(lambda w: lax.convert_element_type(w, np.int32))(1.0),
        NotDifferentiableError,
        ("floating-point", "i32[]"),
    ),
    "loss that is complex": Case(
        lambda: grad(lambda w: lax.complex(w, w))(1.0),
        NotDifferentiableError,
        ("complex", "real part", "holomorphic=True"),
    ),
    "integer leaf": Case(
        lambda: grad(loss)({"w": XS, "steps": np.arange(3)}, XS),
        NotDifferentiableError,
        ("grad(loss)", "params['steps']", "int64", "argnums", "allow_int=True"),
    ),
    "integer argument": Case(
        lambda: grad(lambda x, k: x * k, 1)(3.0, 4),
        NotDifferentiableError,
        ("k has dtype int64", "argnums", "allow_int=True"),
    ),
    "boolean argument of several": Case(
        lambda: value_and_grad(relu, (0, 1))(3.0, True),
        NotDifferentiableError,
        ("value_and_grad(relu)", "slope has dtype bool"),
    ),
    "text": Case(
        lambda: grad(lambda name: 1.0)("abc"),
        NotDifferentiableError,
        ("name is a str", "'abc'", "argnums"),
    ),
    "argument that does not exist": Case(
        lambda: grad(double, 2)(3.0), ValueError, ("argnums", "2", "double", "by position")
    ),
    "aux that is missing": Case(
        lambda: grad(double, has_aux=True)(1.0), TypeError, ("has_aux", "double", "pair")
    ),
    "no function": Case(lambda: grad(3.0), TypeError, ("grad", "function", "float")),  # type: ignore[arg-type]
    "transpose of a square": Case(
        lambda: linear_transpose(lambda x: x * x, 3.0)(3.0),
        NotLinearError,
        ("mul", "not linear", __file__),
    ),
    "transpose of a reciprocal": Case(
        lambda: linear_transpose(lambda x: 1.0 / x, 3.0)(3.0), NotLinearError, ("div", "linear")
    ),
    "transpose of a sine": Case(
        lambda: linear_transpose(lambda x: lax.sin(x), 3.0)(3.0),
        NotLinearError,
        ("sin", "linear"),
    ),
    "transpose of integers": Case(
        lambda: linear_transpose(lambda x: x, np.int32(3)), NotDifferentiableError, ("int32",)
    ),
}

with_static = jit(lambda x, scale: x * scale[0], static_argnums=1)

STATIC = {
    "list": Case(
        lambda: with_static(XS, [1, 2]),
        StaticArgumentError,
        ("static argument 1", "not hashable", "list", "tuple"),
    ),
    "array": Case(
        lambda: with_static(XS, np.ones(1)),
        StaticArgumentError,
        ("static argument 1", "not hashable", "ndarray", "do not mark"),
    ),
    "dict by name": Case(
        lambda: with_static(XS, scale={0: 1}),
        StaticArgumentError,
        ("static argument 'scale'", "not hashable", "dict"),
    ),
    "position that does not exist": Case(
        lambda: jit(double, static_argnums=3),
        StaticArgumentError,
        ("static_argnums", "3", "double"),
    ),
    "name that does not exist": Case(
        lambda: jit(double, static_argnames="y"), StaticArgumentError, ("'y'", "double", "(x)")
    ),
    "text that is not static": Case(
        lambda: jit(lambda config: 1.0)({"name": "abc"}),
        ArgumentError,
        ("config['name']", "str", "'abc'", "static_argnames"),
    ),
    "text as a result": Case(
        lambda: jit(lambda x: {"a": (x, "abc")})(1.0),
        TypeError,
        ("result['a'][1]", "str", "arrays"),
    ),
}

DTYPES = {
    "misspelt": Case(
        lambda: lax.full((2,), 0, "flaot32"), DTypeError, ("'flaot32'", "did you mean 'float32'")
    ),
    "unknown": Case(
        lambda: ShapeDtypeStruct((2,), "f33"), DTypeError, ("'f33'", "supported are", "float32")
    ),
    "text": Case(lambda: lax.full((2,), 0, str), DTypeError, ("U", "numbers only")),
    "objects": Case(
        lambda: lax.convert_element_type(XS, object), DTypeError, ("object", "numbers only")
    ),
    "width that does not exist": Case(
        lambda: lax.iota("int33", 3), DTypeError, ("'int33'", "did you mean")
    ),
    "two of them": Case(
        lambda: lax.add(XS, XS.astype(np.float64)),
        DTypeError,
        ("add", "f32[3]", "f64[3]", "convert_element_type"),
    ),
    "two shapes": Case(
        lambda: lax.add(XS, np.ones(4, np.float32)),
        ShapeError,
        ("add", "f32[3]", "f32[4]", "broadcast"),
    ),
}

GROUPS = {
    "control flow": CONTROL_FLOW,
    "leak": LEAKS,
    "tree": TREES,
    "axis name": AXIS_NAMES,
    "axis size": AXIS_SIZES,
    "output": OUTPUTS,
    "gradient": GRADIENTS,
    "static argument": STATIC,
    "dtype": DTYPES,
}
CASES = {
    f"{group}: {name}": case for group, cases in GROUPS.items() for name, case in cases.items()
}


@pytest.mark.parametrize("name", CASES)
def test_message_names_the_argument_and_the_mend(name: str) -> None:
    run, error, contains = CASES[name]

    with config.override(backend="numpy"), pytest.raises(error, match=re.escape(contains[0])) as e:
        run()

    message = str(e.value)
    assert [word for word in contains if word not in message] == [], message
    assert [word for word in OURS if word in message] == [], message
    assert len(message) < 700, message


@pytest.mark.parametrize("name", CASES)
def test_the_second_attempt_fails_as_the_first(name: str) -> None:
    """No cache turns a refusal into a result, and no trace is left open by one."""
    run, error, _ = CASES[name]
    messages = []
    for _ in range(2):
        with config.override(backend="numpy"), pytest.raises(error) as e:
            run()
        messages.append(str(e.value))

    assert messages[0] == messages[1]
    assert float(lax.add(1.0, 2.0)) == 3.0


def test_errors_of_the_packages_have_one_base_class_each() -> None:
    for error in (NotDifferentiableError, NotLinearError, CustomRuleError):
        assert issubclass(error, AutodiffError)
    for error in (StaticArgumentError, ArgumentError):
        assert issubclass(error, CompileError)
    for error in (AutodiffError, CompileError, MappedAxisError, AxisNameError, TracerLeakError):
        assert issubclass(error, AxonymError)


def test_refused_gradient_leaves_nothing_behind() -> None:
    with config.override(backend="numpy"):
        with pytest.raises(NotDifferentiableError):
            vmap(grad(double), axis_name="i")(np.ones((2, 3), np.float32))
        again = vmap(grad(lambda x: x * x), axis_name="i")(XS)

    np.testing.assert_allclose(again, 2 * XS)
