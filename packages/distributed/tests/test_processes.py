"""Processes and devices of a program of one process, in this one and in others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import axonym_distributed as distributed
from axonym_core.errors import AxonymError
from axonym_distributed.errors import (
    DistributedError,
    PlatformError,
    ProcessArgumentError,
    ProcessIndexError,
)
from axonym_xla import _client

QUESTIONS: list[Callable[..., Any]] = [
    distributed.process_index,
    distributed.process_count,
    distributed.process_indices,
    distributed.devices,
    distributed.device_count,
    distributed.local_device_count,
    lambda backend=None: distributed.local_devices(backend=backend),
]
OLD_NAMES = [
    (distributed.host_id, "host_id", "process_index"),
    (distributed.host_count, "host_count", "process_count"),
    (distributed.host_ids, "host_ids", "process_indices"),
]


def answer(program: str, **environ: str) -> Any:
    """Run a program in a process of its own and return what it prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_one_process_is_process_0_of_1() -> None:
    assert distributed.process_index() == 0
    assert distributed.process_count() == 1
    assert distributed.process_indices() == [0]


def test_devices_are_those_of_the_client() -> None:
    client = _client.client()

    assert distributed.devices() == list(client.devices)
    assert distributed.local_devices() == list(client.local_devices)
    assert distributed.local_devices(0) == distributed.local_devices()
    assert distributed.local_devices(process_index=np.int64(0)) == distributed.local_devices()
    assert distributed.device_count() == len(client.devices)
    assert distributed.local_device_count() == len(client.local_devices)
    assert {device.process_index for device in distributed.devices()} == {0}


def test_the_lists_are_the_callers_own() -> None:
    distributed.devices().clear()
    distributed.local_devices().clear()
    distributed.process_indices().clear()
    assert distributed.devices()
    assert distributed.local_devices()
    assert distributed.process_indices() == [0]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_platform_can_be_named(question: Callable[..., Any]) -> None:
    assert question("cpu") == question(backend="CPU") == question("xla") == question()


@pytest.mark.parametrize("question", QUESTIONS)
def test_other_platforms_have_no_devices(question: Callable[..., Any]) -> None:
    for name in ("gpu", "numpy", ""):
        with pytest.raises(PlatformError, match=f"backend='{name}' has no devices here.*'cpu'"):
            question(backend=name)


@pytest.mark.parametrize("question", QUESTIONS)
def test_platforms_are_named_by_strings(question: Callable[..., Any]) -> None:
    with pytest.raises(ProcessArgumentError, match="backend must be the name of a platform"):
        question(backend=0)


@pytest.mark.parametrize("index", [1, -1, 100])
def test_processes_that_do_not_exist_are_refused(index: int) -> None:
    with pytest.raises(ProcessIndexError, match=rf"process_index={index} is no process.*\[0\]"):
        distributed.local_devices(index)


def test_a_platform_in_the_place_of_a_process_is_recognised() -> None:
    with pytest.raises(ProcessArgumentError, match=r"did you mean backend='cpu'\?$"):
        distributed.local_devices("cpu")


@pytest.mark.parametrize("index", [0.0, [0], object])
def test_what_is_no_index_is_refused(index: object) -> None:
    with pytest.raises(ProcessArgumentError, match="process_index must be a number, got"):
        distributed.local_devices(index)


@pytest.mark.parametrize(("old", "name", "new"), OLD_NAMES)
def test_old_names_warn_and_say_the_new_one(old: Callable[..., Any], name: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"^{name}\(\) is deprecated; use {new}\(\)$") as w:
        assert old() == getattr(distributed, new)()
    assert w[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=new):
        assert old("cpu") == getattr(distributed, new)("cpu")
    with pytest.warns(DeprecationWarning, match=new), pytest.raises(PlatformError):
        old(backend="gpu")


def test_the_old_argument_warns_and_says_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match=r"use local_devices\(process_index=0\)$") as w:
        assert distributed.local_devices(host_id=0) == distributed.local_devices()
    assert w[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="=7"), pytest.raises(ProcessIndexError):
        distributed.local_devices(host_id=7)


def test_the_old_and_the_new_argument_together_are_refused() -> None:
    with pytest.raises(ProcessArgumentError, match="process_index and host_id are both given"):
        distributed.local_devices(process_index=0, host_id=0)


def test_a_cpu_may_be_several_devices() -> None:
    program = """
import json
import axonym_distributed as d
print(json.dumps({
    "counts": [d.device_count(), d.local_device_count(), d.process_count()],
    "ids": [x.id for x in d.devices()],
    "local": [x.id for x in d.local_devices(0, "cpu")],
}))
"""
    assert answer(program, AXONYM_NUM_CPU_DEVICES="4") == {
        "counts": [4, 4, 1],
        "ids": [0, 1, 2, 3],
        "local": [0, 1, 2, 3],
    }


def test_importing_starts_no_client_and_imports_no_jax() -> None:
    program = """
import json, sys
import axonym_distributed as d
import axonym_xla
before = axonym_xla.is_started()
d.devices()
print(json.dumps([before, axonym_xla.is_started(), "jax" in sys.modules]))
"""
    assert answer(program) == [False, True, False]


def test_errors_are_those_of_the_package_and_of_python() -> None:
    assert issubclass(DistributedError, AxonymError)
    assert issubclass(PlatformError, RuntimeError)
    assert issubclass(ProcessIndexError, ValueError)
    assert issubclass(ProcessArgumentError, TypeError)
