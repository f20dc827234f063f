"""The client starts once, late, as configured, and says what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import Any

import pytest

from axonym_core.errors import AxonymError, BackendError
from axonym_xla import _client, _jaxlib, errors
from axonym_xla.errors import ClientError, DeviceError, XlaError


def python(code: str, *, fails: bool = False, **environment: str) -> str:
    """Run a program in a fresh process and return what it prints."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("AXONYM_NUM")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=100,
        env={**env, **environment},
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout.strip()


@pytest.fixture
def unstarted(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Pretend that no client has been started or configured."""
    monkeypatch.delenv(_client.NUM_CPU_DEVICES, raising=False)
    for name in ("_client", "_num_cpu_devices", "_distributed"):
        monkeypatch.setattr(_client, name, None)
    return monkeypatch


def record_start(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace the maker of clients by one that records what it is asked for, and gives one."""
    asked: dict[str, Any] = {}
    make = _jaxlib.make_cpu_client

    def recording(**options: Any) -> Any:
        asked.update(options)
        return make(num_devices=options["num_devices"])

    monkeypatch.setattr(_jaxlib, "make_cpu_client", recording)
    return asked


def test_importing_starts_nothing_and_prints_nothing() -> None:
    out = python(
        """
        import threading
        from axonym_xla import _buffers, _client, _executable
        print(_client.is_started(), threading.active_count())
        """
    )
    assert out == "False 1"


def test_starting_is_quiet_and_leaves_the_environment_alone() -> None:
    out = python(
        """
        import os, sys
        os.dup2(1, 2)  # what C++ writes to stderr shows in the output
        before = dict(os.environ)
        from axonym_xla import _client
        _client.client()
        print(dict(os.environ) == before)
        """
    )
    assert out == "True"


def test_a_log_level_of_the_users_own_is_kept() -> None:
    out = python(
        """
        import os
        from axonym_xla import _client
        print(os.environ["TF_CPP_MIN_LOG_LEVEL"])
        """,
        TF_CPP_MIN_LOG_LEVEL="3",
    )
    assert out == "3"


def test_threads_that_start_the_client_together_get_one() -> None:
    out = python(
        """
        import threading
        from axonym_xla import _client
        barrier, found = threading.Barrier(8), []
        def start():
            barrier.wait()
            found.append(_client.client())
        threads = [threading.Thread(target=start) for _ in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(len(found), len(set(map(id, found))))
        """
    )
    assert out == "8 1"


def test_one_cpu_device_is_the_default(unstarted: pytest.MonkeyPatch) -> None:
    assert len(_client.local_devices()) == 1


def test_the_environment_says_how_many_devices(unstarted: pytest.MonkeyPatch) -> None:
    unstarted.setenv("AXONYM_NUM_CPU_DEVICES", " 3 ")

    assert [d.id for d in _client.local_devices()] == [0, 1, 2]
    assert _client.device_count() == _client.local_device_count() == 3


def test_configure_goes_before_the_environment(unstarted: pytest.MonkeyPatch) -> None:
    unstarted.setenv("AXONYM_NUM_CPU_DEVICES", "3")
    _client.configure(num_cpu_devices=2)

    assert len(_client.devices()) == 2


@pytest.mark.parametrize("text", ["0", "-1", "four", "1025", "1.5", "10**9", "04", "٤", "9" * 5000])
def test_a_wrong_number_in_the_environment_is_named(
    unstarted: pytest.MonkeyPatch, text: str
) -> None:
    unstarted.setenv("AXONYM_NUM_CPU_DEVICES", text)

    with pytest.raises(ClientError, match=r"AXONYM_NUM_CPU_DEVICES must be .* from 1 to 1024; got"):
        _client.client()


@pytest.mark.parametrize("count", [0, -1, 1025, True, 2.0, "2"])
def test_a_wrong_number_is_refused(unstarted: pytest.MonkeyPatch, count: Any) -> None:
    with pytest.raises(ClientError, match="num_cpu_devices must be a number"):
        _client.configure(num_cpu_devices=count)


def test_configuring_a_started_client_is_an_error() -> None:
    _client.client()

    assert _client.is_started()
    with pytest.raises(ClientError, match=r"configure\(\) was called after .* had started"):
        _client.configure(num_cpu_devices=2)


def test_joining_a_group_hands_its_client_over(unstarted: pytest.MonkeyPatch) -> None:
    asked = record_start(unstarted)
    unstarted.setattr(_jaxlib, "make_collectives", lambda client: f"collectives of {client}")
    _client.configure(distributed=_client.Distributed("a client", 1, 2))
    _client.client()

    assert asked == {
        "asynchronous": True,
        "num_devices": 1,
        "distributed_client": "a client",
        "node_id": 1,
        "num_nodes": 2,
        "collectives": "collectives of a client",
    }


def test_two_processes_see_each_others_devices_and_use_their_own() -> None:
    out = python(
        """
        import multiprocessing, socket
        from jaxlib import _jax

        def member(rank, address, service_there, queue):
            if rank == 0:
                service = _jax.get_distributed_runtime_service(address, 2)
                service_there.set()
            service_there.wait()
            group = _jax.get_distributed_runtime_client(address, rank)
            group.connect()
            from axonym_xla import _client
            _client.configure(num_cpu_devices=2, distributed=_client.Distributed(group, rank, 2))
            there = [d.process_index for d in _client.devices()]
            own = {d.process_index for d in _client.local_devices()}
            import numpy as np
            from axonym_xla._buffers import from_host, to_host
            from axonym_xla._executable import compile_program
            types = [((), np.dtype("float32"))]
            text = "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
            run = compile_program(text, types, types)
            result, = run.execute([from_host(np.float32(rank))])
            queue.put((there, own, float(to_host(result))))
            group.shutdown()

        if __name__ == "__main__":
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                address = f"127.0.0.1:{s.getsockname()[1]}"
            context = multiprocessing.get_context("fork")
            event, queue = context.Event(), context.Queue()
            members = [context.Process(target=member, args=(r, address, event, queue))
                       for r in range(2)]
            [m.start() for m in members]
            print(sorted([queue.get(timeout=60) for _ in range(2)], key=lambda got: got[2]))
            [m.join() for m in members]
        """
    )
    assert out == "[([0, 0, 1, 1], {0}, 0.0), ([0, 0, 1, 1], {1}, 1.0)]"


def test_a_client_that_does_not_start_says_with_which_settings(
    unstarted: pytest.MonkeyPatch,
) -> None:
    _client.configure(distributed=_client.Distributed(object(), 0, 1))

    with pytest.raises(ClientError, match=r"did not start with asynchronous=True, num_devices=1"):
        _client.client()
    assert not _client.is_started()


def test_the_default_device_is_the_first() -> None:
    assert _client.default_device() is _client.local_devices()[0]
    assert _client.placement().device is _client.default_device()
    assert _client.placement(_client.default_device()) is _client.placement()


def test_the_list_of_devices_is_the_callers_own() -> None:
    _client.devices().clear()

    assert _client.device_count() == len(_client.devices()) > 0


@pytest.mark.parametrize(
    ("device", "why"), [("cpu", "is no device, but of type str"), ([], "is no device")]
)
def test_what_is_no_device_is_refused(device: Any, why: str) -> None:
    with pytest.raises(DeviceError, match=rf"{why}.*choose one of local_devices\(\): .*id=0"):
        _client.placement(device)


def test_a_device_of_another_client_is_refused() -> None:
    other = _jaxlib.make_cpu_client(num_devices=1).local_devices()[0]

    with pytest.raises(DeviceError, match="belongs to another client"):
        _client.placement(other)


def test_placements_are_found_by_sharding() -> None:
    client = _client.client()

    assert client.placement_of(client.default.sharding) is client.default
    assert client.placement_of(_jaxlib.sharding_of_one(client.default.device_list)) is None


def test_a_forked_process_is_told_to_spawn() -> None:
    out = python(
        """
        import os
        from axonym_xla import _client
        from axonym_xla.errors import ClientError
        _client.client()
        read, write = os.pipe()
        if os.fork() == 0:
            try:
                _client.client()
            except ClientError as error:
                os.write(write, str(error).encode())
            os._exit(0)
        os.wait()
        print(os.read(read, 1000).decode())
        """
    )
    assert "this process was forked" in out
    assert "get_context('spawn')" in out


def test_a_process_forked_before_the_start_has_its_own_client() -> None:
    out = python(
        """
        import os
        from axonym_xla import _client
        child = os.fork()
        count = _client.device_count()
        if child == 0:
            os._exit(count)
        print(os.waitstatus_to_exitcode(os.wait()[1]), count)
        """
    )
    assert out == "1 1"


@pytest.mark.parametrize("found", ["0.10.0", "0.10.2", "0.11.1", "0.12.0.1", "0.12.1.dev20270101"])
def test_known_versions_of_jaxlib_are_accepted(found: str) -> None:
    assert _jaxlib.check_version(found)[:2] == tuple(map(int, found.split(".")[:2]))


@pytest.mark.parametrize("found", ["0.9.2", "0.4.38", "0.13.0", "1.0", "0.13.0.dev1", "unknown"])
def test_other_versions_are_refused_in_one_sentence(found: str) -> None:
    with pytest.raises(ImportError) as caught:
        _jaxlib.check_version(found)

    assert str(caught.value) == (
        f"axonym-xla needs jaxlib>=0.10,<0.13, and jaxlib {found} is installed: "
        "run `python -m pip install 'jaxlib>=0.10,<0.13'`."
    )


def test_a_missing_jaxlib_is_an_import_error_with_the_command() -> None:
    err = python("import sys; sys.modules['jaxlib'] = None; import axonym_xla._jaxlib", fails=True)

    assert err.splitlines()[-1] == (
        "ImportError: axonym-xla needs jaxlib>=0.10,<0.13, and no jaxlib is installed: "
        "run `python -m pip install 'jaxlib>=0.10,<0.13'`."
    )


def test_every_error_is_an_axonym_error_and_a_builtin() -> None:
    for name in errors.__all__:
        error = getattr(errors, name)
        assert issubclass(error, XlaError)
        assert issubclass(error, AxonymError)
        builtins = [c for c in error.__mro__ if c.__module__ == "builtins"]
        assert name == "XlaError" or builtins[0] is not Exception, name
    assert issubclass(ClientError, BackendError)
