"""The backend object: eager operations, compiled programs, data in and out."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from axonym_core import lax
from axonym_core.arrays import Backend, ConcreteArray, Executable, as_concrete
from axonym_core.errors import BackendError, DTypeError
from axonym_core.primitives.elementwise import add_p, copy_p, neg_p
from axonym_core.primitives.shape import split_p
from axonym_core.programs import Primitive
from axonym_core.settings import config
from axonym_core.tracing import make_jaxpr
from axonym_core.types import ShapedArray, aval_of, dtypes
from axonym_xla import backend, default_device, errors, register_lowering


@pytest.fixture(autouse=True)
def _on_xla():
    with config.override(backend="xla"):
        yield


def put(value):
    value = np.asarray(value)
    return backend.from_host(value, aval_of(value))


def get(array):
    return backend.to_host(array.buffer)


def test_it_implements_the_protocol():
    assert isinstance(backend, Backend)
    assert isinstance(backend.compile(make_jaxpr(lambda x: x)(1.0)), Executable)
    assert backend.name == "xla"


@pytest.mark.parametrize("dtype", dtypes.DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,), (3, 0)])
def test_data_comes_back_as_it_went_in(dtype, shape):
    value = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)

    array = put(value)

    assert array.dtype == dtype
    assert get(array).dtype == dtype
    assert get(array).shape == shape
    assert get(array).tobytes() == value.tobytes()


def test_from_host_copies():
    value = np.zeros(64, np.float32)
    array = put(value)
    value[:] = 1

    np.testing.assert_array_equal(get(array), np.zeros(64))


def test_from_host_takes_any_layout_and_byte_order():
    value = np.arange(12.0).reshape(3, 4)

    np.testing.assert_array_equal(get(put(value[::-1, ::2].T)), value[::-1, ::2].T)
    np.testing.assert_array_equal(get(put(value.astype(">f8"))), value)


def test_from_host_converts_to_the_type_asked_for():
    array = backend.from_host(np.array([1.5, 2.5]), ShapedArray((2,), "int32"))

    assert array.dtype == np.int32
    np.testing.assert_array_equal(get(array), [1, 2])


def test_from_host_refuses_another_shape():
    with pytest.raises(errors.ArgumentError, match=r"shape \(2,\).*f32\[3\]"):
        backend.from_host(np.zeros(2, np.float32), ShapedArray((3,), "float32"))


def test_what_comes_back_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        get(put(np.zeros(3)))[0] = 1


def test_an_operation_on_arrays():
    out = backend.evaluate(add_p, (put(np.float32([1, 2])), put(np.float32([3, 4]))), {})

    assert type(out) is ConcreteArray
    assert out.aval is ShapedArray((2,), "float32")
    np.testing.assert_array_equal(get(out), [4, 6])


@pytest.mark.parametrize(
    "other",
    [2.0, np.float32(2), np.full(3, 2, np.float32), np.array(2, np.float32)],
    ids=["python", "generic", "array", "array0"],
)
def test_operands_may_be_numbers_and_numpy_arrays(other):
    out = backend.evaluate(add_p, (put(np.array([1, 2, 3], aval_of(other).dtype)), other), {})

    np.testing.assert_array_equal(get(out), [3, 4, 5])


def test_operands_may_live_on_another_backend():
    with config.override(backend="numpy"):
        there = as_concrete(np.float32([1, 2]))

    out = backend.evaluate(add_p, (there, there), {})

    assert out.backend is backend
    np.testing.assert_array_equal(get(out), [2, 4])


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_the_sign_of_zero_is_kept(zero):
    for number in (zero, np.float32(zero), -zero, zero):
        out = backend.evaluate(neg_p, (number,), {})
        assert np.signbit(get(out)) == (not np.signbit(number))


def test_numbers_of_different_types_are_told_apart():
    for number in (1, True, 1.0, np.int8(1), np.float32(1), np.uint64(1), 1 + 0j, np.int8(2)):
        out = backend.evaluate(copy_p, (number,), {})
        assert out.aval is aval_of(number)
        assert get(out) == number


def test_nan_operands_do_not_fill_the_cache():
    before = len(backend._scalars)
    for _ in range(5):
        out = backend.evaluate(neg_p, (float("nan"),), {})
        assert np.isnan(get(out))

    assert len(backend._scalars) <= before + 1


def test_several_results_are_a_list():
    outs = backend.evaluate(split_p, (put(np.arange(5)),), {"sizes": (2, 3), "axis": 0})

    assert [get(o).tolist() for o in outs] == [[0, 1], [2, 3, 4]]


def test_operations_without_operands():
    np.testing.assert_array_equal(get(lax.iota("int32", 4)), [0, 1, 2, 3])


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 0)])
def test_operations_on_empty_arrays(shape):
    out = lax.sin(put(np.zeros(shape, np.float32)))

    assert get(out).shape == shape


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64", "complex128"])
def test_64_bits_need_no_switch(dtype):
    value = np.array([2**40 + 1], dtype)

    assert get(lax.add(put(value), put(value)))[0] == 2**41 + 2


def test_small_and_large_operations_agree():
    value = np.linspace(-3, 3, 1000, dtype=np.float32)

    large, small = get(lax.tanh(put(value)))[:100], get(lax.tanh(put(value[:100])))

    np.testing.assert_allclose(small, large, rtol=1e-6)


def test_loops_and_branches_are_operations():
    def f(x):
        return lax.fori_loop(0, 3, lambda i, x: lax.mul(x, 2.0), x)

    np.testing.assert_array_equal(get(f(put(np.float32([1, 2])))), [8, 16])


def test_an_operation_is_compiled_once_for_its_types():
    lowered = []
    counted_p = Primitive("counted", lambda x: x)

    def rule(ctx, avals_in, avals_out, x):
        lowered.append(avals_in[0])
        return ctx.op(f"stablehlo.negate {x} : {ctx.type(avals_out[0])}")

    register_lowering(counted_p, rule)
    for value in (np.zeros(2), np.ones(2), np.zeros(3), np.ones(2)):
        backend.evaluate(counted_p, (put(value),), {})

    assert [aval.shape for aval in lowered] == [(2,), (3,)]


def test_parameters_that_are_not_hashable_are_named():
    with pytest.raises(TypeError, match=r"'sizes' of primitive split is not hashable"):
        backend.evaluate(split_p, (put(np.arange(5)),), {"sizes": [2, 3], "axis": 0})


def test_an_operation_that_cannot_be_compiled_is_named():
    unknown_p = Primitive("unheard_of", lambda x: x)

    with pytest.raises(BackendError, match="unheard_of"):
        backend.evaluate(unknown_p, (1.0,), {})


def test_deleted_operands_are_refused():
    x = put(np.float32([1, 2]))
    x.delete()

    assert x.is_deleted()
    with pytest.raises(errors.DeletedBufferError):
        backend.evaluate(neg_p, (x,), {})
    with pytest.raises(errors.DeletedBufferError):
        np.asarray(x)


def test_threads_evaluate_side_by_side():
    results = {}

    def work(i):
        x = put(np.full(7, i, np.float32))
        with config.override(backend="xla"):
            for _ in range(50):
                x = lax.add(x, np.float32(1))
        results[i] = get(x)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for i in range(4):
        np.testing.assert_array_equal(results[i], np.full(7, i + 50))


def compiled(fun, *args, **options):
    return backend.compile(make_jaxpr(fun)(*args), **options)


def test_a_compiled_program_maps_arrays_to_arrays():
    program = compiled(lambda x, y: (lax.add(x, y), lax.mul(x, y)), np.zeros(2), np.zeros(2))

    total, product = program([put(np.array([1.0, 2.0])), put(np.array([3.0, 4.0]))])

    assert total.aval is ShapedArray((2,), "float64")
    np.testing.assert_array_equal(get(total), [4, 6])
    np.testing.assert_array_equal(get(product), [3, 8])


def test_a_compiled_program_tells_about_itself():
    program = compiled(lambda x: lax.sin(lax.mul(x, x)), np.zeros((8, 8), np.float32))

    assert "stablehlo.sine" in program.lowered.as_text()
    assert "HloModule" in program.as_text()
    assert program.memory_analysis().argument_size_in_bytes == 256
    assert program.memory_analysis().temp_size_in_bytes >= 0
    assert program.cost_analysis()["flops"] > 0
    assert program.device is default_device()
    assert len(program.serialize()) > 100


def test_a_program_can_be_lowered_first():
    lowered = backend.lower(make_jaxpr(lambda x: lax.sin(x))(np.zeros(2)), donated=(True,))

    assert "tf.aliasing_output" in lowered.as_text()
    np.testing.assert_array_equal(get(lowered.compile()([put(np.zeros(2))])[0]), [0, 0])
    assert get(lowered.compile(effort="least")([put(np.zeros(2))])[0]).tolist() == [0, 0]


def test_results_keep_weak_types():
    program = compiled(lambda x: lax.neg(x), 1.0)

    (out,) = program([backend.from_host(np.float32(1), aval_of(1.0))])

    assert out.weak_type


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], r"compiled for 1 arguments, and 0 were given"),
        ([np.zeros(3, np.float32)], r"compiled for x of type f32\[2\]; got f32\[3\]"),
        ([np.zeros(2, np.int32)], r"compiled for x of type f32\[2\]; got i32\[2\]"),
    ],
)
def test_arguments_of_other_types_are_refused(args, message):
    def f(x):
        return lax.neg(x)

    program = compiled(f, np.zeros(2, np.float32))

    with pytest.raises(errors.ArgumentError, match=message):
        program([put(a) for a in args])


def test_arguments_of_another_backend_are_converted():
    program = compiled(lax.neg, np.zeros(2, np.float32))
    with config.override(backend="numpy"):
        there = as_concrete(np.array([1, 2], np.float32))

    (out,) = program([there])

    assert out.backend is backend
    np.testing.assert_array_equal(get(out), [-1, -2])


def test_weakness_does_not_matter_to_a_program():
    program = compiled(lax.neg, np.float32(0))

    (out,) = program([backend.from_host(np.float32(2), ShapedArray((), "float32", True))])

    assert get(out) == -2


def test_donated_arguments_are_gone_afterwards():
    program = compiled(lambda x, y: lax.add(x, y), np.zeros(2), np.zeros(2), donated=(True, False))
    x, y = put(np.array([1.0, 2.0])), put(np.array([3.0, 4.0]))

    (out,) = program([x, y])

    np.testing.assert_array_equal(get(out), [4, 6])
    assert x.is_deleted()
    assert not y.is_deleted()
    with pytest.raises(errors.DeletedBufferError):
        program([x, y])


def test_constants_stay_alive_with_the_program():
    def closing_over(value):
        weights = put(value)
        return compiled(lambda x: lax.add(x, weights), np.zeros(3)), weakref.ref(weights)

    program, weights = closing_over(np.arange(3.0))
    gc.collect()
    (out,) = program([put(np.ones(3))])

    np.testing.assert_array_equal(get(out), [1, 2, 3])
    assert weights() is not None
    del program, out
    gc.collect()
    assert weights() is None


def test_options_of_xla_can_be_given():
    program = compiled(lax.neg, np.zeros(2), overrides={"xla_cpu_enable_fast_math": False})

    np.testing.assert_array_equal(get(program([put(np.ones(2))])[0]), [-1, -1])
    with pytest.raises(errors.CompileOptionError):
        compiled(lax.neg, np.zeros(2), overrides={"xla_no_such_option": True})


def test_arrays_know_their_device_and_state():
    x = put(np.zeros(3))

    assert x.device is default_device()
    assert x.devices() == {default_device()}
    assert x.block_until_ready() is x
    assert x.is_ready()


def test_arrays_pickle_and_copy():
    x = put(np.float32([1, 2]))

    again = pickle.loads(pickle.dumps(x))

    np.testing.assert_array_equal(get(again), [1, 2])

    deep = copy.deepcopy(x)
    x.delete()

    np.testing.assert_array_equal(get(deep), [1, 2])


def test_dlpack_both_ways():
    x = put(np.arange(6, dtype=np.float32).reshape(2, 3))

    np.testing.assert_array_equal(np.from_dlpack(x), get(x))
    again = backend.from_dlpack(x)
    np.testing.assert_array_equal(get(again), get(x))
    assert again.aval is x.aval


def test_dlpack_copies_on_demand():
    value = np.zeros(1024, np.float32)

    array = backend.from_dlpack(value, copy=True)
    value[:] = 1

    np.testing.assert_array_equal(get(array), np.zeros(1024))


def test_dlpack_refuses_what_cannot_be_shared():
    value = np.zeros((64, 64), np.float32).T[1:]

    np.testing.assert_array_equal(get(backend.from_dlpack(value)), value)
    with pytest.raises(errors.ExportError, match="copy=False"):
        backend.from_dlpack(value, copy=False)
    with pytest.raises(TypeError, match="__dlpack__"):
        backend.from_dlpack([1, 2])


def test_device_put_leaves_what_is_there():
    x = put(np.zeros(3))

    assert backend.device_put(x, default_device()) is x
    assert backend.device_put(x, None) is x
    np.testing.assert_array_equal(get(backend.device_put(np.ones(3), None)), np.ones(3))
    with pytest.raises(errors.DeviceError):
        backend.device_put(x, "cpu:0")


SEVERAL_DEVICES = """
import numpy as np
from axonym_core import lax
from axonym_core.arrays import as_concrete
from axonym_core.types import aval_of
from axonym_core.settings import config
from axonym_core.tracing import make_jaxpr
from axonym_xla import backend, errors, local_devices

config.backend = "xla"
first, second, third = local_devices()
x = as_concrete(np.float32([1, 2]))
there = backend.device_put(x, second)
assert there.device is second and x.device is first
assert np.asarray(there).tolist() == [1, 2]

# Operations run where their operands are; those on the default device come along.
assert lax.neg(there).device is second
assert lax.add(there, x).device is second
assert lax.add(there, np.float32(1)).device is second
assert lax.add(x, x).device is first
assert np.asarray(lax.add(there, x)).tolist() == [2, 4]
try:
    lax.add(there, backend.device_put(x, third))
except errors.DeviceError as error:
    assert "device_put" in str(error)
else:
    raise AssertionError("two devices were accepted")

# So do compiled programs, and what they closed over.
program = backend.compile(make_jaxpr(lambda y: lax.add(y, x))(x))
for device in (first, second, third, second):
    (out,) = program([backend.device_put(x, device)])
    assert out.device is device
    assert np.asarray(out).tolist() == [2, 4]
"""


def test_several_devices():
    environment = {**os.environ, "AXONYM_NUM_CPU_DEVICES": "3"}
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL_DEVICES], env=environment, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stderr


def test_importing_starts_no_client_and_no_jax():
    code = (
        "import sys, axonym_xla; from axonym_xla import is_started; "
        "assert not is_started(); assert 'jax' not in sys.modules"
    )

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_evaluating_never_imports_jax():
    code = (
        "import sys, numpy as np, axonym_core.lax as lax, axonym_xla; "
        "from axonym_core.settings.configuration import config; config.backend = 'xla'; "
        "x = lax.sin(lax.add(lax.iota('float32', 4), 1.0)); np.asarray(x); repr(x); "
        "np.from_dlpack(x); assert 'jax' not in sys.modules"
    )

    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_python_integers_out_of_range_are_refused():
    message = r"integer 1180591620717411303424 does not fit int64"
    with pytest.raises(DTypeError, match=message):
        add_p.bind(2**70, 1)
    with pytest.raises(DTypeError, match=message):
        backend.device_put(2**70, None)
