"""Programs compile, run, check what they are given, and tell about themselves."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from axonym_xla import _buffers, _client, _jaxlib
from axonym_xla._buffers import Buffer, from_host, to_host
from axonym_xla._compile_options import Effort, compile_options
from axonym_xla._element_types import MLIR_NAMES, tensor_type
from axonym_xla._executable import Executable, compile_program, load_program
from axonym_xla.errors import (
    ArgumentError,
    BufferDTypeError,
    CompilationError,
    CompileOptionError,
    DeletedBufferError,
    ExecutionError,
    OutOfMemoryError,
    XlaError,
)

F32 = np.dtype("float32")
F64 = np.dtype("float64")
I32 = np.dtype("int32")
I64 = np.dtype("int64")


def program(signature: str, *body: str) -> str:
    return f"func.func public @main{signature} {{\n" + "\n".join(body) + "\n}\n"


DOUBLE = program(
    "(%x: tensor<3xf32>) -> tensor<3xf32>",
    "%0 = stablehlo.add %x, %x : tensor<3xf32>",
    "return %0 : tensor<3xf32>",
)

SUBTRACT = program(
    "(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32>",
    "%0 = stablehlo.subtract %x, %y : tensor<3xf32>",
    "return %0 : tensor<3xf32>",
)

UPDATE = program(
    "(%x: tensor<1000xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<1000xf32>)"
    " -> tensor<1000xf32>",
    "%0 = stablehlo.add %x, %y : tensor<1000xf32>",
    "return %0 : tensor<1000xf32>",
)


def compiled(text: str, ins: Sequence[Any], outs: Sequence[Any], **options: Any) -> Executable:
    return compile_program(text, ins, outs, **options)


@pytest.fixture
def double() -> Executable:
    return compiled(DOUBLE, [((3,), F32)], [((3,), F32)])


@pytest.fixture
def subtract() -> Executable:
    return compiled(SUBTRACT, [((3,), F32)] * 2, [((3,), F32)])


@pytest.fixture
def update() -> Executable:
    return compiled(UPDATE, [((1000,), F32)] * 2, [((1000,), F32)], donated=[0])


def f32(*values: float) -> Buffer:
    return from_host(np.array(values, np.float32))


def ones() -> Buffer:
    return from_host(np.ones(1000, np.float32))


def test_a_program_maps_buffers_to_buffers(double: Executable) -> None:
    for call in (double, double.execute, double.run):
        (result,) = call([f32(1, 2, 3)])

        assert to_host(result).tolist() == [2, 4, 6]
        assert result.aval is double.out_avals[0]
        assert _buffers.device_of(result) is double.device


def test_results_are_arguments_of_other_programs(double: Executable, subtract: Executable) -> None:
    x = f32(1, 2, 3)
    for _ in range(10):
        (x,) = double.execute([x])

    assert to_host(subtract.execute([x, f32(0, 0, 1)])[0]).tolist() == [1024, 2048, 3071]


def test_arguments_may_be_a_tuple(subtract: Executable) -> None:
    assert to_host(subtract.run((f32(5, 5, 5), f32(1, 2, 3)))[0]).tolist() == [4, 3, 2]


def test_a_program_without_arguments() -> None:
    text = program(
        "() -> tensor<2xi32>",
        "%0 = stablehlo.constant dense<[7, 8]> : tensor<2xi32>",
        "return %0 : tensor<2xi32>",
    )

    assert to_host(compiled(text, [], [((2,), I32)]).execute([])[0]).tolist() == [7, 8]


@pytest.mark.parametrize("arrow", ["", " -> ()"])
def test_a_program_without_results(arrow: str) -> None:
    text = program(f"(%x: tensor<f32>){arrow}", "return")

    assert compiled(text, [((), F32)], []).execute([from_host(np.float32(1))]) == []


def test_results_come_in_order_with_their_dtypes() -> None:
    text = program(
        "(%x: tensor<2xf32>) -> (tensor<2xf64>, tensor<2xf32>, tensor<0xi1>, tensor<2xbf16>)",
        "%0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf64>",
        "%1 = stablehlo.constant dense<> : tensor<0xi1>",
        "%2 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xbf16>",
        "return %0, %x, %1, %2 : tensor<2xf64>, tensor<2xf32>, tensor<0xi1>, tensor<2xbf16>",
    )
    bf16 = np.dtype(ml_dtypes.bfloat16)
    outs = [((2,), F64), ((2,), F32), ((0,), np.dtype(bool)), ((2,), bf16)]
    results = [to_host(r) for r in compiled(text, [((2,), F32)], outs).execute([f32(1, 2)])]

    assert [(r.shape, r.dtype) for r in results] == outs
    assert [r.tolist() for r in results] == [[1, 2], [1, 2], [], [1, 2]]


def test_many_arguments_and_results() -> None:
    n = 200
    names = [f"%a{i}" for i in range(n)]
    types = ", ".join(["tensor<f32>"] * n)
    text = program(
        f"({', '.join(f'{a}: tensor<f32>' for a in names)}) -> ({types})",
        f"return {', '.join(reversed(names))} : {types}",
    )
    reverse = compiled(text, [((), F32)] * n, [((), F32)] * n)
    results = reverse.execute([from_host(np.float32(i)) for i in range(n)])

    assert [float(to_host(r)) for r in results] == list(reversed(range(n)))


@pytest.mark.parametrize(
    ("dtype", "name", "value"),
    [(F64, "f64", 1 + 2**-52), (I64, "i64", 2**53 + 1), (np.dtype("c16"), "complex<f64>", 1e-300j)],
)
def test_64_bits_go_through(dtype: np.dtype[Any], name: str, value: Any) -> None:
    kind = f"tensor<{name}>"
    text = program(
        f"(%x: {kind}) -> {kind}", f"%0 = stablehlo.negate %x : {kind}", f"return %0 : {kind}"
    )
    negate = compiled(text, [((), dtype)], [((), dtype)])

    assert to_host(negate.execute([from_host(np.array(value, dtype))])[0])[()] == -value


@pytest.mark.parametrize("name", sorted({"int4", "uint4", "int2", "uint2"}))
def test_types_of_less_than_a_byte_are_packed_and_unpacked(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    kind = f"tensor<7x{name.replace('int', 'i').replace('uii', 'ui')}>"
    text = program(
        f"(%x: {kind}) -> {kind}", f"%0 = stablehlo.add %x, %x : {kind}", f"return %0 : {kind}"
    )
    info = ml_dtypes.iinfo(dtype)
    low, high = info.min // 2, info.max // 2
    values = np.array([0, high, 0, low, low, high, high])
    (result,) = compiled(text, [((7,), dtype)], [((7,), dtype)]).execute(
        [from_host(values.astype(dtype))]
    )

    assert to_host(result).astype(int).tolist() == (values * 2).tolist()


@pytest.mark.parametrize(
    ("buffers", "message"),
    [
        ([], "the program takes 2 arguments, and 0 were given"),
        ([f32(1, 2, 3)] * 3, "the program takes 2 arguments, and 3 were given"),
        ([f32(1, 2, 3), f32(1, 2)], r"argument 1 must be float32\[3\]; got float32\[2\]"),
        (
            [from_host(np.zeros(3, "i4")), f32(1, 2, 3)],
            r"argument 0 must be float32\[3\]; got int32\[3\]",
        ),
        ([f32(1, 2, 3), np.zeros(3, "f4")], r"argument 1 must be a buffer .*; got ndarray"),
        ([f32(1, 2, 3), None], r"argument 1 must be a buffer of float32\[3\] .*; got NoneType"),
    ],
    ids=["none", "too many", "shape", "dtype", "ndarray", "None"],
)
def test_other_arguments_are_refused(
    subtract: Executable, buffers: list[Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        subtract.execute(buffers)


@pytest.mark.parametrize(
    ("buffers", "message"),
    [
        ([], "the program takes 2 arguments, and 0 were given"),
        ([f32(1, 2, 3), f32(1, 2)], r"argument 1 must be float32\[3\]; got float32\[2\]"),
        ([None, f32(1, 2, 3)], r"argument 0 must be a buffer"),
    ],
    ids=["none", "size", "None"],
)
def test_the_fast_way_explains_what_xla_refuses(
    subtract: Executable, buffers: list[Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        subtract.run(buffers)


@pytest.mark.parametrize("way", ["run", "execute"])
def test_a_deleted_argument_is_named(subtract: Executable, way: str) -> None:
    x, y = f32(1, 2, 3), f32(1, 2, 3)
    y.delete()

    with pytest.raises(DeletedBufferError, match=r"argument 1, of float32\[3\], was deleted"):
        getattr(subtract, way)([x, y])


@pytest.mark.parametrize("way", ["run", "execute"])
def test_a_buffer_of_another_client_is_refused(double: Executable, way: str) -> None:
    place = _client.Client(_jaxlib.make_cpu_client(num_devices=1)).default
    semantics = _jaxlib.HostBufferSemantics.ZERO_COPY
    data = [np.zeros(3, np.float32)]
    foreign = _jaxlib.put(
        double.in_avals[0], place.sharding, data, place.devices, True, True, semantics, True
    )

    with pytest.raises(ArgumentError, match=r"argument 0 .* it is on another XLA client"):
        getattr(double, way)([foreign])


@pytest.mark.parametrize("way", ["run", "execute"])
def test_donated_arguments_are_gone_afterwards(update: Executable, way: str) -> None:
    x, y = ones(), ones()
    (result,) = getattr(update, way)([x, y])

    assert update.donated == (0,)
    assert _buffers.is_deleted(x)
    assert not _buffers.is_deleted(y)
    assert to_host(result).tolist() == [2.0] * 1000
    with pytest.raises(DeletedBufferError, match=r"argument 0, of .*donated to an earlier call"):
        getattr(update, way)([x, y])


def test_donated_memory_is_reused(update: Executable) -> None:
    assert update.memory_stats().alias_size_in_bytes == 4000
    x, y = ones(), ones()
    _buffers.block_until_ready(x)
    where = memoryview_address(x)
    (result,) = update.run([x, y])

    assert memoryview_address(result) == where


def memoryview_address(buffer: Buffer) -> int:
    return int(to_host(buffer).__array_interface__["data"][0])


class Exporter:
    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer

    def __dlpack__(self, **options: Any) -> Any:
        return _buffers.to_dlpack(self.buffer, **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _buffers.dlpack_device(self.buffer)


@pytest.mark.parametrize("share", ["to_host", "dlpack"])
def test_donating_what_numpy_shares_spoils_nothing(update: Executable, share: str) -> None:
    x, y = ones(), ones()
    shared = to_host(x) if share == "to_host" else np.from_dlpack(Exporter(x))
    (result,) = update.run([x, y])

    assert _buffers.is_deleted(x)
    assert shared.tolist() == [1.0] * 1000
    assert to_host(result).tolist() == [2.0] * 1000


def test_donating_shared_host_memory_does_not_write_to_it(update: Executable) -> None:
    memory = np.zeros(4000 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    data = memory[start : start + 4000].view(np.float32)
    data[:] = 1
    (result,) = update.run([from_host(data, copy=False), ones()])

    assert to_host(result).tolist() == [2.0] * 1000
    assert data.tolist() == [1.0] * 1000


def test_an_unused_donor_is_deleted_too() -> None:
    text = program(
        "(%x: tensor<3xf32> {jax.buffer_donor = true}) -> tensor<f64>",
        "%0 = stablehlo.constant dense<1.0> : tensor<f64>",
        "return %0 : tensor<f64>",
    )
    x = f32(1, 2, 3)
    run = compiled(text, [((3,), F32)], [((), F64)], donated=[0])
    run.execute([x])

    assert run.donated == (0,)
    assert _buffers.is_deleted(x)


@pytest.mark.parametrize("way", ["run", "execute"])
def test_a_donated_argument_cannot_be_given_twice(update: Executable, way: str) -> None:
    x = ones()

    with pytest.raises(ArgumentError, match="argument 0 is donated and given again as argument 1"):
        getattr(update, way)([x, x])
    assert to_host(x).tolist() == [1.0] * 1000


def test_constants_go_before_the_arguments() -> None:
    less = compiled(SUBTRACT, [((3,), F32)], [((3,), F32)], consts=[f32(10, 20, 30)])

    assert less.in_avals == (_buffers.buffer_aval((3,), F32),)
    for way in (less.run, less.execute):
        assert to_host(way([f32(1, 2, 3)])[0]).tolist() == [9, 18, 27]
    with pytest.raises(ArgumentError, match="takes 1 arguments, and 2 were given"):
        less.execute([f32(1, 2, 3)] * 2)


def test_constants_and_donation_go_together() -> None:
    text = UPDATE.replace(" {tf.aliasing_output = 0 : i32}", "").replace(
        "%y: tensor<1000xf32>", "%y: tensor<1000xf32> {tf.aliasing_output = 0 : i32}"
    )
    const = ones()
    run = compiled(text, [((1000,), F32)], [((1000,), F32)], donated=[0], consts=[const])
    y = ones()
    (result,) = run.run([y])

    assert run.donated == (0,)
    assert _buffers.is_deleted(y)
    assert not _buffers.is_deleted(const)
    assert to_host(result).tolist() == [2.0] * 1000
    with pytest.raises(ArgumentError, match="argument 0 is donated and a constant of the program"):
        run.execute([const])


def test_a_constant_that_was_deleted_is_named() -> None:
    const = f32(1, 2, 3)
    run = compiled(SUBTRACT, [((3,), F32)], [((3,), F32)], consts=[const])
    const.delete()

    with pytest.raises(DeletedBufferError, match=r"constant 0 of the program, of float32\[3\]"):
        run.execute([f32(1, 2, 3)])


def test_wrong_constants_are_refused(update: Executable) -> None:
    deleted = f32(1, 2, 3)
    deleted.delete()
    one, none = [((3,), F32)], [((1000,), F32)]

    with pytest.raises(ArgumentError, match=r"consts\[0\] must be a buffer; got ndarray"):
        compiled(SUBTRACT, one, one, consts=[np.zeros(3, "f4")])
    with pytest.raises(CompilationError, match="main has the parameters"):
        compiled(SUBTRACT, one, one, consts=[f32(1, 2)])
    with pytest.raises(DeletedBufferError, match=r"consts\[0\] was deleted"):
        compiled(SUBTRACT, one, one, consts=[deleted])
    for position in (1, -1):
        with pytest.raises(ArgumentError, match=r"donated=.* is out of range of 1 arguments"):
            compiled(UPDATE, none, none, donated=[position], consts=[ones()])


@pytest.mark.parametrize(
    ("ins", "outs", "message"),
    [
        ([((3,), F32)], [((3,), F32)], r"parameters \(float32\[3\], float32\[3\]\), and"),
        ([((3,), F32), ((3,), I32)], [((3,), F32)], r"int32\[3\].* were announced"),
        ([((3,), F32)] * 2, [((4,), F32)], r"results \(float32\[3\]\), and \(float32\[4\]\)"),
        ([((3,), F32)] * 2, [], r"results \(float32\[3\]\), and \(\)"),
    ],
    ids=["too few", "dtype", "shape of the result", "no result"],
)
def test_a_program_of_other_types_than_announced_is_refused(
    ins: list[Any], outs: list[Any], message: str
) -> None:
    with pytest.raises(CompilationError, match=message):
        compiled(SUBTRACT, ins, outs)


def test_a_dtype_that_xla_lacks_is_refused() -> None:
    with pytest.raises(BufferDTypeError, match="XLA has no arrays of dtype object"):
        compiled(DOUBLE, [((3,), np.dtype(object))], [((3,), F32)])


def test_float0_is_announced_as_truth_values() -> None:
    float0 = np.dtype([("float0", np.void, 0)])
    text = program("(%x: tensor<3xi1>) -> tensor<3xi1>", "return %x : tensor<3xi1>")
    run = compiled(text, [((3,), float0)], [((3,), float0)])

    assert to_host(run.execute([from_host(np.zeros(3, float0))])[0]).dtype == np.bool_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "XLA refused the program"),
        ("func.func @other() { return }", "XLA refused the program: (.|\n)*main"),
        (DOUBLE.replace("add", "ad"), r"XLA refused the program: (.|\n)*2:6: error"),
        (DOUBLE.replace("return", "garbage"), "XLA refused the program"),
        (DOUBLE.replace("%0 : t", "%1 : t"), "undeclared SSA value"),
        (
            program(
                "(%x: tensor<3xf32>, %t: !stablehlo.token) -> tensor<3xf32>",
                "return %x : tensor<3xf32>",
            ),
            "must map arrays to arrays: number 1 is token",
        ),
        (
            program(
                "(%x: tensor<3xf32>) -> !stablehlo.token",
                "%0 = stablehlo.create_token : !stablehlo.token\nreturn %0 : !stablehlo.token",
            ),
            "must map arrays to arrays: number 0 is token",
        ),
    ],
    ids=["empty", "no main", "no such op", "syntax", "undeclared", "parameter", "result"],
)
def test_bad_programs_are_refused(text: str, message: str) -> None:
    with pytest.raises(CompilationError, match=message) as caught:
        compiled(text, [((3,), F32)], [((3,), F32)])
    assert isinstance(caught.value, RuntimeError)


def test_text_must_be_text() -> None:
    with pytest.raises(ArgumentError, match="text must be a StableHLO module as str; got bytes"):
        compiled(DOUBLE.encode(), [], [])  # type: ignore[arg-type]  # that is the test


@pytest.mark.parametrize("dtype", MLIR_NAMES, ids=str)
@pytest.mark.parametrize("shape", [(), (2, 3), (0, 1)], ids=str)
def test_types_of_every_kind_are_held_against_the_program(
    dtype: np.dtype[Any], shape: tuple[int, ...]
) -> None:
    kind = tensor_type(shape, dtype)
    text = program(f'(%x: {kind} {{mhlo.a = "@main("}}) -> ({kind})', f"return %x : {kind}")
    compiled(text, [(shape, dtype)], [(shape, dtype)])
    other = np.dtype(np.int8 if dtype != np.int8 else np.int16)
    for ins, outs in [((shape, other), (shape, dtype)), ((shape, dtype), ((*shape, 1), dtype))]:
        with pytest.raises(CompilationError, match="were announced"):
            compiled(text, [ins], [outs])


def test_a_loaded_program_is_held_against_its_announcement(double: Executable) -> None:
    data = double.serialize()
    load_program(data, [((3,), F32)], [((3,), F32)])
    with pytest.raises(CompilationError, match="were announced"):
        load_program(data, [((3,), F32)], [((4,), F32)])


@pytest.mark.parametrize("effort", ["full", "quick", "least"])
def test_every_effort_computes_the_same(effort: Effort) -> None:
    kind = "tensor<4x5xf32>"
    text = program(
        f"(%x: {kind}) -> tensor<5x4xf32>",
        f"%0 = stablehlo.tanh %x : {kind}",
        f"%1 = stablehlo.multiply %0, %x : {kind}",
        f"%2 = stablehlo.transpose %1, dims = [1, 0] : ({kind}) -> tensor<5x4xf32>",
        "return %2 : tensor<5x4xf32>",
    )
    run = compiled(text, [((4, 5), F32)], [((5, 4), F32)], options=compile_options(effort=effort))
    x = np.linspace(-3, 3, 20, dtype=np.float32).reshape(4, 5)

    np.testing.assert_allclose(
        to_host(run.execute([from_host(x)])[0]), (np.tanh(x) * x).T, rtol=1e-6
    )


def test_options_can_be_shared() -> None:
    options = compile_options(effort="least", overrides={"xla_llvm_disable_expensive_passes": True})
    before = options.SerializeAsString()
    for _ in range(3):
        run = compiled(DOUBLE, [((3,), F32)], [((3,), F32)], options=options)
        assert to_host(run.execute([f32(1, 2, 3)])[0]).tolist() == [2, 4, 6]

    assert options.SerializeAsString() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"effort": "more"}, "effort must be one of full, quick, least; got 'more'"),
        (
            {"overrides": {"fast_math": True}},
            "overrides has the key 'fast_math'.* begin with 'xla_'",
        ),
        (
            {"overrides": {"xla_dump_to": None}},
            r"overrides\['xla_dump_to'\] must be a string, .*None",
        ),
    ],
    ids=["effort", "key", "value"],
)
def test_wrong_options_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CompileOptionError, match=message):
        compile_options(**arguments)


@pytest.mark.parametrize(
    "overrides", [{"xla_no_such_option": 1}, {"xla_backend_optimization_level": "high"}]
)
def test_options_that_xla_lacks_are_named(overrides: dict[str, Any]) -> None:
    with pytest.raises(CompileOptionError, match=next(iter(overrides))):
        compiled(DOUBLE, [((3,), F32)], [((3,), F32)], options=compile_options(overrides=overrides))


def test_a_program_tells_its_memory_text_and_cost() -> None:
    kind = "tensor<64x64xf32>"
    dot = f"contracting_dims = [1] x [0] : ({kind}, {kind}) -> {kind}"
    text = program(
        f"(%x: {kind}) -> {kind}",
        f"%0 = stablehlo.dot_general %x, %x, {dot}",
        f"%1 = stablehlo.dot_general %0, %0, {dot}",
        f"return %1 : {kind}",
    )
    run = compiled(text, [((64, 64), F32)], [((64, 64), F32)])
    stats = run.memory_stats()

    assert stats.argument_size_in_bytes == stats.output_size_in_bytes == 64 * 64 * 4
    assert run.temp_size_in_bytes == stats.temp_size_in_bytes == 64 * 64 * 4
    assert stats.peak_memory_in_bytes >= stats.temp_size_in_bytes
    assert stats.alias_size_in_bytes == 0
    assert run.hlo_text().startswith("HloModule")
    assert run.cost_analysis()["flops"] >= 2 * 2 * 64**3
    assert repr(run) == "Executable((float32[64,64]) -> (float32[64,64]))"


def test_a_serialised_program_runs_again(update: Executable) -> None:
    data = update.serialize()
    again = load_program(data, [((1000,), F32)] * 2, [((1000,), F32)], donated=[0])
    x = ones()
    (result,) = again.execute([x, ones()])

    assert to_host(result).tolist() == [2.0] * 1000
    assert _buffers.is_deleted(x)
    assert again.memory_stats().alias_size_in_bytes == 4000


def test_a_serialised_program_takes_constants() -> None:
    data = compiled(SUBTRACT, [((3,), F32)] * 2, [((3,), F32)]).serialize()
    less = load_program(data, [((3,), F32)], [((3,), F32)], consts=[f32(10, 20, 30)])

    assert to_host(less.execute([f32(1, 2, 3)])[0]).tolist() == [9, 18, 27]


@pytest.mark.parametrize("data", [b"", b"garbage", bytes(1000)], ids=["empty", "text", "zeros"])
def test_damaged_data_is_refused(data: bytes) -> None:
    with pytest.raises(CompilationError, match="a serialised program could not be loaded"):
        load_program(data, [], [])


def test_donated_positions_must_exist(double: Executable) -> None:
    with pytest.raises(ArgumentError, match=r"donated=\(1,\) is out of range of 1 arguments"):
        load_program(double.serialize(), [((3,), F32)], [((3,), F32)], donated=[1])


def test_running_out_of_memory_is_a_memory_error() -> None:
    huge = "tensor<70368744177664xf32>"
    text = program(
        f"(%x: tensor<f32>) -> {huge}",
        f"%0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> {huge}",
        f"return %0 : {huge}",
    )
    run = compiled(text, [((), F32)], [((1 << 46,), F32)])

    with pytest.raises(OutOfMemoryError, match="RESOURCE_EXHAUSTED"):
        _buffers.block_until_ready(run.execute([from_host(np.float32(1))])[0])


def test_other_failures_are_execution_errors() -> None:
    assert type(_buffers.failure("it failed", RuntimeError("INTERNAL: why"))) is ExecutionError
    assert issubclass(ExecutionError, XlaError)


def test_programs_run_on_any_device_and_nowhere_else() -> None:
    code = f"""
        import numpy as np
        from axonym_xla import _buffers, _client
        from axonym_xla._executable import compile_program, load_program
        from axonym_xla.errors import ArgumentError
        first, second = _client.local_devices()
        f32 = [((3,), np.dtype("float32"))]
        text = {DOUBLE!r}
        x = np.arange(3, dtype=np.float32)
        runs = [compile_program(text, f32, f32, device=d) for d in (second, None)]
        runs.append(load_program(runs[0].serialize(), f32, f32, device=second))
        for run in runs:
            y, = run.execute([_buffers.from_host(x, run.device)])
            print(run.device.id, _buffers.device_of(y).id, _buffers.to_host(y).tolist())
        for way in runs[0].run, runs[0].execute:
            try:
                way([_buffers.from_host(x)])
            except ArgumentError as error:
                print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "AXONYM_NUM_CPU_DEVICES": "2"},
        check=False,
    )
    wrong = "argument 0 must be float32[3] on cpu:1; it is on cpu:0. Move it with to_device."
    assert done.stdout.splitlines() == [
        "1 1 [0.0, 2.0, 4.0]",
        "0 0 [0.0, 2.0, 4.0]",
        "1 1 [0.0, 2.0, 4.0]",
        wrong,
        wrong,
    ], done.stderr


def test_threads_compile_and_run_together() -> None:
    barrier = threading.Barrier(4)
    wrong: list[Any] = []
    shared = compiled(DOUBLE, [((3,), F32)], [((3,), F32)])

    def work(k: int) -> None:
        barrier.wait()
        for i in range(5):
            kind = f"tensor<{10 * k + i + 1}xi64>"
            text = program(
                f"(%x: {kind}) -> {kind}",
                f"%c = stablehlo.constant dense<{k}> : {kind}",
                f"%0 = stablehlo.add %x, %c : {kind}",
                f"return %0 : {kind}",
            )
            aval = ((10 * k + i + 1,), I64)
            run = compiled(text, [aval], [aval], options=compile_options(effort="least"))
            for _ in range(20):
                x = from_host(np.arange(aval[0][0]))
                if not np.array_equal(to_host(run.execute([x])[0]), np.arange(aval[0][0]) + k):
                    wrong.append((k, i))
                if to_host(shared.run([f32(k, i, 1)])[0]).tolist() != [2 * k, 2 * i, 2]:
                    wrong.append("shared")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


def test_threads_that_donate_the_same_buffer_let_one_through(update: Executable) -> None:
    def donate(x: Buffer, barrier: threading.Barrier, outcomes: list[str]) -> None:
        y = ones()
        barrier.wait()
        try:
            outcomes.append(str(to_host(update.run([x, y])[0])[0]))
        except XlaError as error:
            outcomes.append(type(error).__name__)

    for _ in range(10):
        outcomes: list[str] = []
        shared = (ones(), threading.Barrier(4), outcomes)
        threads = [threading.Thread(target=donate, args=shared) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sorted(outcomes) == ["2.0", *["DeletedBufferError"] * 3]
