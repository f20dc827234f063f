"""`jax` and Axonym share a process and jaxlib, and neither notices the other.

Each test runs programs in processes of their own. Where `jax` is installed, it is imported before
and after; a stand-in for it shows everywhere that nothing tries to import it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HAS_JAX = importlib.util.find_spec("jax") is not None

# Every way into jaxlib that the package has, with 64-bit values.
OURS = """
def use_ours():
    import ml_dtypes
    import numpy as np
    from axonym_xla import _buffers as B, _client
    from axonym_xla._compile_options import compile_options
    from axonym_xla._executable import compile_program, load_program
    from axonym_xla.errors import ArgumentError, DeletedBufferError, XlaError

    for name in B.supported_dtypes():
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        for shape in (), (0, 2), (4, 3):
            data = np.ones(shape, dtype)
            buffer = B.from_host(data)
            read = B.to_host(buffer)
            assert read.tobytes() == data.tobytes() and read.dtype == dtype, name
            B.block_until_ready(buffer)
            assert B.is_ready(buffer) and not B.is_deleted(buffer)
            for device in _client.local_devices():
                moved = B.to_device(buffer, device)
                assert B.to_host(moved).tobytes() == data.tobytes()
                assert B.device_of(moved) is device
            buffer.delete()
            try:
                B.to_host(buffer)
            except DeletedBufferError:
                pass

    big = 2**53 + 1
    assert int(B.to_host(B.from_host(np.int64(big)))) == big
    assert B.to_host(B.from_host(np.float64(1 + 2**-52))) == 1 + 2**-52
    shared = np.from_dlpack(Exporter(B.from_host(np.arange(3))))
    assert shared.tolist() == [0, 1, 2]
    try:
        B.from_host(np.broadcast_to(np.zeros(1), (1 << 45,)))
    except MemoryError:
        pass

    text = '''func.func public @main(%x: tensor<i64>, %y: tensor<f64> {jax.buffer_donor = true})
        -> (tensor<i64>, tensor<f64>) {
      %0 = stablehlo.add %x, %x : tensor<i64>
      %1 = stablehlo.multiply %y, %y : tensor<f64>
      return %0, %1 : tensor<i64>, tensor<f64>
    }'''
    types = [((), np.dtype("int64")), ((), np.dtype("float64"))]
    for effort in "full", "quick", "least":
        run = compile_program(text, types, types, options=compile_options(effort=effort))
        loaded = load_program(run.serialize(), types, types, donated=run.donated)
        for way in run.run, run.execute, loaded.execute:
            y = B.from_host(np.float64(1 + 2**-52))
            i, f = way([B.from_host(np.int64(big)), y])
            assert int(B.to_host(i)) == 2 * big
            assert B.to_host(f) == (1 + 2**-52) ** 2
            assert B.is_deleted(y)
        assert run.temp_size_in_bytes >= 0 and run.hlo_text() and run.cost_analysis()
        for wrong in [], [i], [1, 2], [i, i]:
            try:
                run.execute(wrong)
            except ArgumentError:
                pass
            else:
                raise AssertionError(wrong)
    try:
        compile_program(text.replace("add", "ad"), types, types)
    except XlaError:
        pass


class Exporter:
    def __init__(self, buffer):
        self.buffer = buffer

    def __dlpack__(self, **options):
        from axonym_xla import _buffers
        return _buffers.to_dlpack(self.buffer, **options)

    def __dlpack_device__(self):
        return 1, 0
"""

# What users do with jax, and what they get.
THEIRS = """
def use_jax(x64):
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", x64)
    wide_float, wide_int = ("float64", "int64") if x64 else ("float32", "int32")
    x = jnp.arange(4.0)
    assert x.dtype == wide_float and jnp.arange(4).dtype == wide_int
    assert repr(x + 1) in ("Array([1., 2., 3., 4.], dtype=%s)" % wide_float,)
    assert jax.jit(lambda x: x * 2 + 1)(x).tolist() == [1, 3, 5, 7]
    assert jax.grad(lambda x: (x**3).sum())(x).tolist() == [0, 3, 12, 27]
    assert jax.vmap(lambda a, b: a @ b)(x.reshape(2, 2), x.reshape(2, 2)).tolist() == [1, 13]
    assert jax.jit(lambda d: d["a"] - d["b"])({"a": 3, "b": np.float64(1)}) == 2
    assert jnp.asarray(np.float64(1 + 2**-52)).dtype == wide_float
    assert (float(jnp.asarray(np.float64(1 + 2**-52))) == 1 + 2**-52) == x64
    assert x[1:3].tolist() == [1, 2] and bool((x == x).all()) and len(jax.devices()) == 1
    bf16 = jnp.ones(3, jnp.bfloat16) * 2
    assert np.asarray(bf16).tolist() == [2, 2, 2]
    assert jax.lax.scan(lambda c, a: (c + a, c), 0.0, x)[0] == 6
    assert np.asarray(x).tolist() == [0, 1, 2, 3]
    assert jax.config.jax_enable_x64 is x64
    donated = jnp.ones(3)
    assert jax.jit(lambda x: x + 1, donate_argnums=0)(donated).tolist() == [2, 2, 2]
    assert donated.is_deleted()
"""


def run(body: str, *, path: Path | None = None, **environment: str) -> str:
    env = {**os.environ, "AXONYM_NUM_CPU_DEVICES": "2", **environment}
    if path is not None:
        env["PYTHONPATH"] = os.pathsep.join([str(path), env.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", OURS + THEIRS + textwrap.dedent(body)],
        capture_output=True,
        text=True,
        timeout=110,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A folder with a package `jax` that leaves a trace when it is imported."""
    package = tmp_path / "jax"
    package.mkdir()
    trace = tmp_path / "imported"
    (package / "__init__.py").write_text(f"open({str(trace)!r}, 'w').close()\n")
    return tmp_path


def test_the_stand_in_would_be_noticed(stand_in: Path) -> None:
    run("import jax", path=stand_in)

    assert (stand_in / "imported").exists()


def test_the_stand_in_notices_what_jaxlib_does_behind_ones_back(stand_in: Path) -> None:
    run(
        """
        import numpy as np
        from axonym_xla._buffers import from_host
        try:
            from_host(np.zeros(3)).unsafe_buffer_pointer()
        except AttributeError:
            pass  # the stand-in has nothing of what it looks for there
        """,
        path=stand_in,
    )

    assert (stand_in / "imported").exists()


def test_nothing_tries_to_import_jax(stand_in: Path) -> None:
    out = run("use_ours(); import sys; print('jax' in sys.modules)", path=stand_in)

    assert out == "False"
    assert not (stand_in / "imported").exists()


def test_nothing_of_jaxlib_is_patched() -> None:
    out = run(
        """
        from jaxlib import _jax
        def state():
            found = {name: value for name, value in vars(_jax).items()}
            for name, value in list(found.items()):
                if isinstance(value, type):
                    found.update({f"{name}.{k}": v for k, v in vars(value).items()})
            return found
        before = state()
        use_ours()
        after = state()
        print(all(after[name] is value for name, value in before.items()))
        # C++ makes the classes of its iterators when they are first needed.
        print([name for name in after if name not in before and not name.endswith("_iterator")])
        print(_jax.tracebacks_enabled())
        """
    )
    assert out == "True\n[]\nTrue"


def test_the_switch_for_64_bits_is_left_alone() -> None:
    out = run(
        """
        import numpy as np
        from jaxlib import _jax
        from axonym_xla import _buffers, _client
        use_ours()
        place = _client.placement()
        aval = _buffers.buffer_aval((), np.dtype("float64"))
        try:
            _jax.batched_device_put(aval, place.sharding, [np.float64(1)], place.devices)
        except RuntimeError as error:
            print(error)
        """
    )
    assert "enable_x64_state is not set" in out


if HAS_JAX:  # an environment with nothing but what the package declares has no jax

    def test_using_ours_never_imports_an_installed_jax() -> None:
        assert run("use_ours(); import sys; print('jax' in sys.modules)") == "False"

    @pytest.mark.parametrize("x64", [False, True], ids=["x32", "x64"])
    @pytest.mark.parametrize(
        "order",
        [
            "use_jax({x64}); use_ours(); use_jax({x64}); use_ours()",
            "use_ours(); use_jax({x64}); use_ours(); use_jax({x64})",
            "import jax; use_ours(); use_jax({x64})",
            "from axonym_xla import _executable; use_jax({x64}); use_ours()",
        ],
        ids=["jax first", "ours first", "jax imported first", "ours imported first"],
    )
    def test_both_work_in_either_order(order: str, x64: bool) -> None:
        assert run(f"{order.format(x64=x64)}; print('fine')") == "fine"

    def test_changing_the_width_in_between_changes_theirs_only() -> None:
        body = "\nfor x64 in True, False, True:\n    use_jax(x64)\n    use_ours()\n"

        assert run(body + "print('fine')") == "fine"

    def test_what_was_made_before_jax_works_after() -> None:
        out = run(
            """
            import numpy as np
            from axonym_xla import _buffers as B
            from axonym_xla._executable import compile_program
            types = [((3,), np.dtype("float64"))]
            kind = "tensor<3xf64>"
            run = compile_program(
                f"func.func @main(%x: {kind}) -> {kind} {{\\n"
                f"%0 = stablehlo.add %x, %x : {kind}\\nreturn %0 : {kind}\\n}}", types, types)
            x = B.from_host(np.arange(3.0))
            y, = run.run([x])
            use_jax(False)
            z, = run.execute([y])
            print(B.to_host(x).tolist(), B.to_host(y).tolist(), B.to_host(z).tolist())
            """
        )
        assert out == "[0.0, 1.0, 2.0] [0.0, 2.0, 4.0] [0.0, 4.0, 8.0]"

    def test_jax_does_not_see_our_devices_and_arrays() -> None:
        out = run(
            """
            import jax
            import numpy as np
            from axonym_xla import _buffers as B, _client
            kept = B.from_host(np.zeros(3))
            print(len(jax.devices()), len(_client.devices()), len(jax.live_arrays()))
            print(any(d in _client.devices() for d in jax.devices()))
            """
        )
        assert out == "1 2 0\nFalse"

    def test_arrays_of_jax_are_refused_and_pass_through_numpy() -> None:
        out = run(
            """
            import jax.numpy as jnp
            import numpy as np
            from axonym_xla import _buffers as B
            from axonym_xla._executable import compile_program
            from axonym_xla.errors import ArgumentError
            types = [((3,), np.dtype("float32"))]
            kind = "tensor<3xf32>"
            text = f"func.func @main(%x: {kind}) -> {kind} {{ return %x : {kind} }}"
            program = compile_program(text, types, types)
            theirs = jnp.arange(3.0)
            for way in program.run, program.execute:
                try:
                    way([theirs])
                except ArgumentError as error:
                    print(error)
            ours, = program.execute([B.from_host(np.asarray(theirs))])
            print((jnp.asarray(B.to_host(ours)) + 1).tolist())
            """
        )
        refusal = (
            "argument 0 must be float32[3] on cpu:0; it is on another XLA client, such as that "
            "of `jax`. Convert it to a NumPy array first."
        )
        assert out.splitlines() == [refusal, refusal, "[1.0, 2.0, 3.0]"]
