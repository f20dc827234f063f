"""One thread reads arrays while others delete or donate them: an error at worst, never a crash."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp

RACE = """
    import copy, pickle, sys, threading, time
    import numpy as np
    import axonym as ax
    import axonym.numpy as anp

    readers = sys.argv[2:]
    ax.config.backend = "xla"
    add = ax.jit(lambda x: x + x)
    give = ax.jit(lambda x: x * 2, donate_argnums=0)
    READ = {
        "asarray": np.asarray,
        "memoryview": lambda x: memoryview(np.asarray(x)),
        "dlpack": np.from_dlpack,
        "operation": lambda x: x + x,
        "jit": add,
        "device_put": lambda x: np.asarray(ax.device_put(x, ax.local_devices()[-1])),
        "pickle": pickle.dumps,
        "deepcopy": copy.deepcopy,
        "wait": ax.block_until_ready,
        "is_ready": lambda x: x.is_ready(),
        "bfloat16": lambda x: np.asarray(x.astype("bfloat16")),
        "donate": give,
    }
    END = {"delete": lambda x: x.delete(), "donate": give}
    box = [anp.ones(20_000)]
    until, wrong, ended = 0, [], [0]

    def repeat(step):
        while time.monotonic() < until:
            try:
                step()
            except ax.errors.DeletedBufferError:
                pass
            except BaseException as error:
                wrong.append(f"{type(error).__name__}: {error}")
                return

    def end(how):
        x = add(anp.ones(20_000))
        box[0] = x
        how(x)
        ended[0] += 1

    def read(how):
        got = how(box[0])
        if isinstance(got, np.ndarray) and not np.all(got == got[0]):
            wrong.append(f"read {got}")

    sys.setswitchinterval(1e-5)
    for how in END.values():
        for name in readers:
            until = time.monotonic() + float(sys.argv[1])
            steps = [lambda: read(READ[name])] * 2 + [lambda: end(how)] * 2
            threads = [threading.Thread(target=repeat, args=[step]) for step in steps]
            [thread.start() for thread in threads]
            [thread.join(60) for thread in threads]
            assert not wrong, (name, wrong)
    print("alive", ended[0] > 0)
"""

READERS = (
    ("asarray", "memoryview", "dlpack", "bfloat16"),
    ("operation", "jit", "device_put", "deepcopy"),
    ("pickle", "wait", "is_ready", "donate"),
)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("readers", READERS, ids=" ".join)
def test_readers_survive_those_who_delete_and_donate(readers: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(RACE), "0.4", *readers],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "alive True\n"), done.stderr


def address(x: ax.Array) -> int:
    return int(np.asarray(x).__array_interface__["data"][0])


def test_memory_of_donated_arrays_is_reused() -> None:
    """Nobody else uses it: the program must not get a copy."""
    with ax.config.override(backend="xla"):
        step = ax.jit(lambda x, y: (x + y, y * 2), donate_argnums=0)
        y = anp.ones(1000)
        for _ in range(3):
            x = (y * 1).block_until_ready()
            at = address(x)
            (result, _) = step(x, y)
            assert address(result) == at
            assert x.is_deleted()
            assert not y.is_deleted()


def test_what_was_read_before_the_donation_stays() -> None:
    with ax.config.override(backend="xla"):
        x = anp.ones(1000)
        read, shared = np.asarray(x), np.from_dlpack(x)
        result = ax.jit(lambda x: x + 1, donate_argnums=0)(x)

    assert x.is_deleted()
    np.testing.assert_array_equal(np.asarray(result), np.full(1000, 2.0))
    for before in (read, shared):
        np.testing.assert_array_equal(before, np.ones(1000))


def test_a_call_that_fails_donates_nothing() -> None:
    with ax.config.override(backend="xla"):
        compiled = ax.jit(lambda x, y: x + y, donate_argnums=0).lower(anp.ones(3), anp.ones(3))
        step = compiled.compile()
        x, gone = anp.ones(3), anp.ones(3)
        gone.delete()
        with pytest.raises(RuntimeError, match="deleted"):
            step(x, gone)
        with pytest.raises(TypeError, match="donated and given again"):
            step(x, x)
        np.testing.assert_array_equal(np.asarray(step(x, anp.ones(3))), np.full(3, 2.0))


def test_a_program_keeps_what_it_refers_to() -> None:
    with ax.config.override(backend="xla"):
        weights = anp.arange(3.0)
        apply = ax.jit(lambda x: x * weights)
        apply(anp.ones(3))
        weights.delete()

        np.testing.assert_array_equal(np.asarray(apply(anp.ones(3))), [0.0, 1.0, 2.0])
        with pytest.raises(RuntimeError, match="was deleted"):
            weights + 1


def test_deleted_arrays_are_refused_everywhere() -> None:
    with ax.config.override(backend="xla"):
        x = anp.ones(3)
        place = x.device
        x.delete()
        x.delete()

        assert x.is_deleted()
        assert x.device == place
        for use in (np.asarray, repr, lambda x: x + 1, ax.jit(lambda x: x), ax.block_until_ready):
            with pytest.raises(RuntimeError, match="deleted"):
                use(x)
        with pytest.raises(RuntimeError, match="deleted"):
            ax.jit(lambda y: x + y)(1.0)
        with ax.config.override(backend="numpy"), pytest.raises(RuntimeError, match="deleted"):
            x + 1
