"""The faults: one small edit each, over all packages, and the tests that are to find it.

Each test selection is as narrow as it can be, since it runs once for its fault. Where sources
change, an edit goes stale: `tools/tests/test_planted.py` says so, and the new text of the line
belongs here.
"""

from __future__ import annotations

from tools.planted.planting import Fault

CORE = "packages/core/src/axonym_core/"
AUTODIFF = "packages/autodiff/src/axonym_autodiff/"
MAPPING = "packages/mapping/src/axonym_mapping/"
COMPILE = "packages/compile/src/axonym_compile/"
XLA = "packages/xla/src/axonym_xla/"
NUMPY = "packages/numpy/src/axonym_numpy/"
RANDOM = "packages/random/src/axonym_random/"
DISTRIBUTED = "packages/distributed/src/axonym_distributed/"
UMBRELLA = "packages/axonym/src/axonym/"

INTEGRATION = "tests-integration/"
MATRIX = f"{INTEGRATION}test_rule_matrix.py::test_every_rule_is_right"


def _cell(primitive: str, cell: str) -> str:
    return f"{MATRIX}[{primitive}-{cell}]"


_CORE = (
    Fault(
        "programs are kept whatever axes are in scope",
        f"{CORE}tracing/staging.py",
        "full_key = (in_tree, in_avals, key, settle, context.trace.axis_env, config.trace_key)",
        "full_key = (in_tree, in_avals, key, settle, config.trace_key)",
        (f"{INTEGRATION}test_kept_programs.py",),
    ),
    Fault(
        "programs are kept whatever the default widths",
        f"{CORE}tracing/staging.py",
        "full_key = (in_tree, in_avals, key, settle, context.trace.axis_env, config.trace_key)",
        "full_key = (in_tree, in_avals, key, settle, context.trace.axis_env)",
        (f"{INTEGRATION}test_kept_programs.py",),
    ),
    Fault(
        "programs that hold traced values are kept",
        f"{CORE}tracing/staging.py",
        "    if any(isinstance(c, Tracer) for c in traced.jaxpr.consts):\n",
        "    if False:\n",
        (f"{INTEGRATION}test_kept_programs.py",),
    ),
    Fault(
        "a lost race makes two abstract values of one",
        f"{CORE}settings/caches.py",
        "            found = self._references.place(key, value, None)()\n",
        "            found = (self._references.place(key, value, None), value)[1]\n",
        ("packages/core/tests/test_caches.py",),
    ),
    Fault(
        "keys of caches do not tell 0.0 from -0.0",
        f"{CORE}settings/caches.py",
        "return (type(value), _double(value))",
        "return (type(value), value)",
        ("packages/core/tests/test_caches.py",),
    ),
    Fault(
        "keys of parameters leave out their names",
        f"{CORE}settings/caches.py",
        "key: list[Hashable] = [*params]",
        "key: list[Hashable] = []",
        ("packages/core/tests/test_caches.py",),
    ),
    Fault(
        "types lose a named axis where two are joined",
        f"{CORE}types/avals.py",
        "if joined.setdefault(name, size) != size:",
        "if name in joined and joined[name] != size:",
        ("packages/core/tests/test_avals.py", "packages/core/tests/test_axes.py"),
    ),
    Fault(
        "a weak number of a higher kind is strong",
        f"{CORE}types/type_lattice.py",
        "weak = {dtype for dtype, weak in dtypes_and_weak if weak and dtype != bool_}",
        "weak = {dtype for dtype, weak in dtypes_and_weak if not weak and dtype != bool_}",
        ("packages/core/tests/test_promotion.py",),
    ),
    Fault(
        "remainders have the sign of the divisor",
        f"{CORE}numpy_backend/elementwise.py",
        "    quotient = (x - np.fmod(x, safe)) // safe\n",
        "    quotient = x // safe\n",
        (_cell("div", "evaluation"),),
    ),
    Fault(
        "0 does not win in the product in which it should",
        f"{CORE}numpy_backend/elementwise.py",
        "return np.where((x == 0) | (y == 0), x.dtype.type(0), np.multiply(x, y))",
        "return np.multiply(x, y)",
        (_cell("mul_no_nan", "evaluation"),),
    ),
    Fault(
        "an operand that communicates is guarded as others are",
        f"{CORE}lax/mapped_branches.py",
        "    if axes.isdisjoint(jaxpr.axes_communicated):\n",
        "    if True:\n",
        (f"{INTEGRATION}test_guarded_branches.py",),
    ),
    Fault(
        "the last group of rounds has another key",
        f"{CORE}primitives/random_bits.py",
        "KEY_PARITY: Final = 0x1BD11BDA",
        "KEY_PARITY: Final = 0x1BD11BDB",
        (_cell("threefry2x32", "evaluation"),),
    ),
)

_AUTODIFF = (
    Fault(
        "branches under a mapped condition are not guarded in derivatives",
        f"{AUTODIFF}rules/control/branches.py",
        "select_branch, ins[0], branches, ins[1:], guard)",
        "select_branch, ins[0], branches, ins[1:], None)",
        (f"{INTEGRATION}test_guarded_branches.py",),
    ),
    Fault(
        "cotangents of a backward rule are not summed over the axis",
        f"{AUTODIFF}rules/calls.py",
        "sum_over_missing(ct, aval, varied, reading))",
        "ct)",
        (f"{INTEGRATION}test_custom_rules.py",),
    ),
    Fault(
        "cotangents of a backward rule count the axis twice",
        f"{AUTODIFF}rules/calls.py",
        "varied = join_all_named([*[out_avals[k] for k in group], aval_of(ct)])",
        "varied = join_all_named([*out_avals, aval_of(ct)])",
        (f"{INTEGRATION}test_custom_rules.py",),
    ),
    Fault(
        "tangents of a rule may have another dtype",
        f"{AUTODIFF}custom_calls.py",
        "                t = strong(self._fitting(t, wanted, what, i, tree))\n",
        "                pass\n",
        (f"{INTEGRATION}test_custom_rule_checks.py",),
    ),
    Fault(
        "a scan saves what does not change at every step",
        f"{AUTODIFF}rules/control/scan.py",
        "    fixed = _invariant(primal, len(consts))\n",
        "    fixed = set(primal.invars[: len(consts)])\n",
        (f"{INTEGRATION}test_kept_programs.py",),
    ),
    Fault(
        "the derivative of a product takes one factor twice",
        f"{AUTODIFF}rules/elementwise.py",
        "lambda t, out, x, y: lax.mul(x, t))",
        "lambda t, out, x, y: lax.mul(y, t))",
        (_cell("mul", "jvp"),),
    ),
    Fault(
        "the square's slope is x",
        f"{AUTODIFF}rules/elementwise.py",
        "lax.mul(t, lax.mul(x, _number(2, x))))",
        "lax.mul(t, x))",
        (_cell("square", "jvp"),),
    ),
    Fault(
        "the slope of the square is right once only",
        f"{AUTODIFF}rules/elementwise.py",
        "lax.mul(t, lax.mul(x, _number(2, x))))",
        "lax.mul(t, lax.stop_gradient(lax.mul(x, _number(2, x)))))",
        (_cell("square", "second derivative"),),
    ),
    Fault(
        "imaginary parts go back with the other sign",
        f"{AUTODIFF}rules/elementwise.py",
        "[lax.complex(_number(0, ct), lax.neg(ct))]",
        "[lax.complex(_number(0, ct), ct)]",
        (_cell("imag", "transposition"),),
    ),
    Fault(
        "the slope of atan has no square",
        f"{AUTODIFF}rules/elementwise.py",
        "defjvp(p.atan_p, lambda t, out, x: lax.div(t, _one_plus_square(x)))",
        "defjvp(p.atan_p, lambda t, out, x: t)",
        (_cell("atan", "jvp"),),
    ),
    Fault(
        "cotangents are summed over no axis",
        f"{AUTODIFF}tape.py",
        "    return psum_p.bind(ct, axes=missing) if missing else ct\n",
        "    return ct\n",
        (_cell("sin", "named axis"), _cell("add", "named axis")),
    ),
    Fault(
        "a value that is used twice has the cotangent of one use",
        f"{AUTODIFF}tape.py",
        "            found[x] = add_tangents(found.get(x, _ZERO), x_ct)\n",
        "            found[x] = x_ct\n",
        ("packages/autodiff/tests/test_reverse.py",),
    ),
    Fault(
        "what is not linear is transposed",
        f"{AUTODIFF}tape.py",
        "        if rule is None or not _is_linear(eqn):\n",
        "        if rule is None:\n",
        (f"{INTEGRATION}test_cases_gradients.py", "packages/autodiff/tests/test_reverse.py"),
    ),
    Fault(
        "expensive operations are repeated in the backward pass",
        f"{AUTODIFF}residuals.py",
        "        if eqn.primitive.cheap:\n",
        "        if True:\n",
        ("packages/autodiff/tests/test_residuals.py",),
    ),
)

_MAPPING = (
    Fault(
        "branches under a mapped condition are not guarded under vmap",
        f"{MAPPING}rules/control.py",
        "guard_for = _lane_guard if axis.size else None",
        "guard_for = None",
        (f"{INTEGRATION}test_guarded_branches.py",),
    ),
    Fault(
        "a sum of equal copies is one of them",
        f"{MAPPING}rules/collectives.py",
        "    return lax.mul(x, aval_of(x).dtype.type(count))\n",
        "    return x\n",
        (_cell("psum", "named axis"),),
    ),
    Fault(
        "a collective forgets the other axes",
        f"{MAPPING}rules/collectives.py",
        "return (primitive.bind(out, axes=others) if others else out), None",
        "return out, None",
        (f"{INTEGRATION}test_collectives.py",),
    ),
    Fault(
        "groups of indices come back in another order",
        f"{MAPPING}rules/collectives.py",
        "    inverse = sorted(range(len(order)), key=order.__getitem__)\n",
        "    inverse = order\n",
        (f"{INTEGRATION}test_collectives.py",),
    ),
    Fault(
        "mapped values do not vary by type",
        f"{MAPPING}batching.py",
        "            named = join_named(named, ((self.axis.name, self.axis.size),))\n",
        "            pass\n",
        ("packages/mapping/tests/test_vmap.py",),
    ),
    Fault(
        "an axis is moved to the wrong place",
        f"{MAPPING}rule_tables.py",
        "    order.insert(to, dim)\n",
        "    order.insert(0, dim)\n",
        (_cell("add", "batching"), _cell("dot_general", "batching"), "packages/mapping/tests"),
    ),
    Fault(
        "an axis that is not mapped is broadcast as the last dimension",
        f"{MAPPING}rule_tables.py",
        "kept = [i if i < to else i + 1 for i in range(len(shape))]",
        "kept = list(range(len(shape)))",
        (_cell("add", "batching"), _cell("select_n", "batching")),
    ),
    Fault(
        "results may vary over an axis that out_axes does not list",
        f"{MAPPING}vmap.py",
        "    if out_dim is None:\n        if varies:\n",
        "    if out_dim is None:\n        if False:\n",
        ("packages/mapping/tests/test_vmap.py",),
    ),
)

_COMPILE = (
    Fault(
        "a keyword call takes the program of a positional one",
        f"{COMPILE}_jit.py",
        "return (config.dispatch_key, self._options, call.in_tree, call.static, avals)",
        "return (config.dispatch_key, self._options, call.static, avals)",
        (f"{INTEGRATION}test_kept_programs.py",),
    ),
    Fault(
        "static values are in no key",
        f"{COMPILE}_jit.py",
        "return (config.dispatch_key, self._options, call.in_tree, call.static, avals)",
        "return (config.dispatch_key, self._options, call.in_tree, avals)",
        ("packages/compile/tests/test_jit.py",),
    ),
    Fault(
        "keyword arguments are donated in the order of the call",
        f"{COMPILE}_jit.py",
        "            for k in sorted(kwargs)\n            if k not in self._static.names",
        "            for k in kwargs\n            if k not in self._static.names",
        (f"{INTEGRATION}test_donation.py",),
    ),
    Fault(
        "misses are not counted",
        f"{COMPILE}_cache.py",
        "    def _missed(self) -> None:\n        self._misses.add()\n",
        "    def _missed(self) -> None:\n",
        ("packages/compile/tests/test_cache.py",),
    ),
    Fault(
        "what is used often is evicted first",
        f"{COMPILE}_cache.py",
        "            return default\n        entry.used = self.tick()\n",
        "            return default\n",
        ("packages/compile/tests/test_cache.py",),
    ),
)

_XLA = (
    Fault(
        "donated buffers are paired by shape alone",
        f"{XLA}lowering/module.py",
        "            results = free.get((aval.shape, aval.dtype), [])\n",
        "            results = next((v for k, v in free.items() if k[0] == aval.shape), [])\n",
        (f"{INTEGRATION}test_donation.py",),
    ),
    Fault(
        "negation is lowered to the identity",
        f"{XLA}lowering/elementwise.py",
        'return ctx.op(f"stablehlo.negate {x} : {ctx.type(aval)}")',
        "return x",
        (
            _cell("integer_pow", "lowering"),
            _cell("neg", "lowering"),
            "packages/xla/tests/test_lowering_elementwise.py",
        ),
    ),
    Fault(
        "0 does not win in the compiled product in which it should",
        f"{XLA}lowering/elementwise.py",
        "    return _select(ctx, vanishes, truth, zero, _mul(ctx, out, x, y), out)\n",
        "    return _mul(ctx, out, x, y)\n",
        (_cell("mul_no_nan", "lowering"),),
    ),
    Fault(
        "negative powers of integers are not inverted",
        f"{XLA}lowering/elementwise.py",
        'return _select(ctx, compare("LT", y, zero), truth, inverse, power, out)',
        "return power",
        ("packages/xla/tests/test_lowering_elementwise.py",),
    ),
    Fault(
        "constants of one value are constants of all",
        f"{XLA}lowering/registry.py",
        "        key = (array.tobytes(), aval)\n",
        "        key = (array.nbytes, aval)\n",
        (_cell("integer_pow", "lowering"), "packages/xla/tests/test_constants.py"),
    ),
    Fault(
        "bytes of constants are turned round",
        f"{XLA}lowering/constants.py",
        'return f"0x{array.tobytes()[::-1].hex().upper()}"',
        'return f"0x{array.tobytes().hex().upper()}"',
        ("packages/xla/tests/test_constants.py",),
    ),
    Fault(
        "what is called twice is compiled into each caller",
        f"{XLA}lowering/call_counts.py",
        "seen = counts[jaxpr] = counts.get(jaxpr, 0) + 1",
        "seen = counts[jaxpr] = 1",
        ("packages/xla/tests/test_module_text.py",),
    ),
)

_NUMPY = (
    Fault(
        "softplus is the logarithm of a sum with 1",
        f"{NUMPY}nn/activations.py",
        "    return logaddexp(x, number_like(0, aval_of(x)))\n",
        "    return logaddexp(x, number_like(1, aval_of(x)))\n",
        ("packages/numpy/tests/test_nn.py",),
    ),
    Fault(
        "means count the hidden entries",
        f"{NUMPY}statistics/moments.py",
        'return lax.div(total, _count("mean", a, where, dims, names))',
        'return lax.div(total, _count("mean", a, None, dims, names))',
        ("packages/numpy/tests/test_reductions.py",),
    ),
    Fault(
        "ranges end too late",
        f"{NUMPY}creation/ranges.py",
        "        return max(-((first - last) // distance), 0)\n",
        "        return max(-((first - last) // distance), 0) + 1\n",
        ("packages/numpy/tests/test_creation.py",),
    ),
    Fault(
        "a range does not start where it should",
        f"{NUMPY}creation/ranges.py",
        "    return lax.add(out, scalar_of(start, dtype)) if start != 0 else out\n",
        "    return out\n",
        ("packages/numpy/tests/test_creation.py",),
    ),
    Fault(
        "padding by constants swaps the two ends",
        f"{NUMPY}joining/padding.py",
        "[(low, high, 0) for low, high in widths])",
        "[(high, low, 0) for low, high in widths])",
        (
            "packages/numpy/tests/test_sequences.py",
            "packages/numpy/tests/test_shapes.py",
            f"{INTEGRATION}test_public_reports_gradients.py",
        ),
    ),
)

_RANDOM = (
    Fault(
        "uniform numbers lie from 1 to 2",
        f"{RANDOM}_uniform.py",
        "    return lax.sub(from_one_to_two, one[()])\n",
        "    return from_one_to_two\n",
        ("packages/random/tests/test_continuous.py",),
    ),
    Fault(
        "Gumbel numbers have the other sign",
        f"{RANDOM}_continuous.py",
        "    return lax.neg(lax.log(lax.neg(lax.log(u))))\n",
        "    return lax.log(lax.neg(lax.log(u)))\n",
        ("packages/random/tests/test_continuous.py",),
    ),
    Fault(
        "Laplace numbers have one sign",
        f"{RANDOM}_continuous.py",
        "    return lax.mul(lax.sign(u), lax.log1p(lax.neg(lax.abs(u))))\n",
        "    return lax.log1p(lax.neg(lax.abs(u)))\n",
        ("packages/random/tests/test_continuous.py",),
    ),
    Fault(
        "normal numbers are too narrow",
        f"{RANDOM}_continuous.py",
        "        return lax.mul(lax.erf_inv(drawn), dtype.type(_SQRT2))\n",
        "        return lax.erf_inv(drawn)\n",
        ("packages/random/tests/test_continuous.py",),
    ),
    Fault(
        "bounds of random integers are biased",
        f"{RANDOM}_uniform.py",
        "    return lax.rem(lax.add(upper, lax.rem(low, span)), span)\n",
        "    return lax.rem(upper, span)\n",
        ("packages/random/tests/test_discrete.py", "packages/random/tests/test_streams.py"),
    ),
)

_DISTRIBUTED = (
    Fault(
        "there is one process more than there is",
        f"{DISTRIBUTED}_processes.py",
        'return len(_indices(_client_of(backend, "process_count")))',
        'return len(_indices(_client_of(backend, "process_count"))) + 1',
        ("packages/distributed/tests",),
    ),
    Fault(
        "processes are counted from 1",
        f"{DISTRIBUTED}_processes.py",
        'return _client_of(backend, "process_index").raw.process_index()',
        'return _client_of(backend, "process_index").raw.process_index() + 1',
        ("packages/distributed/tests",),
    ),
    Fault(
        "local devices are not counted",
        f"{DISTRIBUTED}_processes.py",
        'return len(_client_of(backend, "local_device_count").local_devices)',
        "return 0",
        ("packages/distributed/tests",),
    ),
)

_UMBRELLA = (
    Fault(
        "what is not installed ends the report",
        f"{UMBRELLA}_report.py",
        '    except PackageNotFoundError:\n        return "not installed"\n',
        '    except ZeroDivisionError:\n        return "not installed"\n',
        ("packages/axonym/tests/test_report.py",),
    ),
    Fault(
        "the report shows every environment variable",
        f"{UMBRELLA}_report.py",
        "found = {name: environ[name] for name in (*OURS, *_OTHERS) if name in environ}",
        "found = dict(environ)",
        ("packages/axonym/tests/test_report.py",),
    ),
    Fault(
        "modules do not list their names",
        f"{UMBRELLA}_lazy.py",
        "return sorted({*vars(sys.modules[module]), *home_of, *inside})",
        "return sorted(vars(sys.modules[module]))",
        ("packages/axonym/tests/test_report.py",),
    ),
)

FAULTS = (
    *_CORE,
    *_AUTODIFF,
    *_MAPPING,
    *_COMPILE,
    *_XLA,
    *_NUMPY,
    *_RANDOM,
    *_DISTRIBUTED,
    *_UMBRELLA,
)
