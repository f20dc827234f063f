from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from axonym_core.errors import AxonymError, ConfigError
from axonym_core.settings import config
from axonym_core.settings.configuration import _from_environment


@pytest.fixture(autouse=True)
def _restored():
    before = config.as_dict()
    config.update(backend=None, check=False, default_float_bits=32, default_int_bits=32)
    yield
    config.update(**before)


def in_thread(f):
    results = []
    thread = threading.Thread(target=lambda: results.append(f()))
    thread.start()
    thread.join()
    return results[0]


def test_defaults_are_32_bits_without_checks():
    fresh = subprocess.run(
        [
            sys.executable,
            "-c",
            "from axonym_core import config; print(config)",
        ],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert fresh.stdout.strip() == (
        "Config(backend=None, default_float_bits=32, default_int_bits=32, check=False)"
    )


def test_update_is_seen_by_every_thread():
    config.update(default_int_bits=64, backend="numpy")
    assert in_thread(lambda: (config.default_int_bits, config.backend)) == (64, "numpy")


def test_assignment_is_update():
    config.check = True
    assert in_thread(lambda: config.check) is True
    config.check = False


def test_override_is_seen_by_its_thread_only_and_ends_with_the_block():
    with config.override(check=True, default_float_bits=64):
        assert (config.check, config.default_float_bits) == (True, 64)
        assert in_thread(lambda: (config.check, config.default_float_bits)) == (False, 32)
    assert (config.check, config.default_float_bits) == (False, 32)


def test_override_ends_when_the_block_raises():
    with pytest.raises(KeyError), config.override(check=True):
        raise KeyError
    assert config.check is False


def test_overrides_nest_and_one_instance_can_be_entered_again():
    override = config.override(default_int_bits=64)
    with override, config.override(default_int_bits=32):
        assert config.default_int_bits == 32
        with override:
            assert config.default_int_bits == 64
        assert config.default_int_bits == 32
    assert config.default_int_bits == 32


def test_one_override_can_be_entered_by_several_threads_at_once():
    override = config.override(default_int_bits=64)

    def read():
        with override:
            return config.default_int_bits

    with override:
        assert in_thread(read) == 64
        assert config.default_int_bits == 64
    assert config.default_int_bits == 32


def test_update_inside_a_block_waits_for_its_end_in_that_thread():
    with config.override(backend="numpy"):
        config.update(backend="xla")
        assert config.backend == "numpy"
        assert in_thread(lambda: config.backend) == "xla"
    assert config.backend == "xla"


def test_trace_key_follows_the_settings_that_change_programs_and_no_others():
    before = config.trace_key
    with config.override(check=True, backend="numpy"):
        assert config.trace_key == before
    with config.override(default_float_bits=64):
        assert config.trace_key == (64, 32)
        with config.override(default_int_bits=64):
            assert config.trace_key == (64, 64)
        assert config.trace_key == (64, 32)
    assert config.trace_key == before
    config.update(default_int_bits=64)
    assert config.trace_key == (32, 64)


def test_trace_key_agrees_with_the_settings_when_another_thread_updates():
    with config.override(default_float_bits=64):
        in_thread(lambda: config.update(default_int_bits=64))
        assert config.trace_key == (config.default_float_bits, config.default_int_bits)
    assert config.trace_key == (config.default_float_bits, config.default_int_bits) == (32, 64)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"default_float_bits": 16}, "config.default_float_bits must be 32 or 64; got 16"),
        ({"default_int_bits": "32"}, "config.default_int_bits must be 32 or 64; got '32'"),
        ({"check": 1}, "config.check must be True or False; got 1"),
        ({"backend": ""}, "config.backend must be the name of a backend"),
        ({"backend": 3}, "config.backend must be the name of a backend"),
        ({"chek": True}, "config has no setting 'chek'; the settings are backend, "),
        ({"trace_key": ()}, "config has no setting 'trace_key'"),
    ],
)
def test_bad_settings_are_errors_that_say_what_is_allowed(settings, message):
    for change in (config.update, config.override):
        with pytest.raises(ConfigError, match=message.replace(".", r"\.")) as caught:
            change(**settings)
        assert isinstance(caught.value, (AxonymError, ValueError))


def test_update_with_one_bad_setting_changes_nothing():
    with pytest.raises(ConfigError):
        config.update(default_int_bits=64, check="yes")
    assert config.default_int_bits == 32


def test_unknown_attributes_cannot_be_set_and_settings_cannot_be_deleted():
    with pytest.raises(ConfigError, match="no setting 'enable_x64'"):
        config.enable_x64 = True
    with pytest.raises(ConfigError, match=r"config\.check cannot be deleted"):
        del config.check


@pytest.mark.parametrize("text", ["1", "true", "Yes", " on "])
def test_environment_gives_the_initial_values(text):
    environ = {
        "AXONYM_CHECK": text,
        "AXONYM_BACKEND": "numpy",
        "AXONYM_DEFAULT_FLOAT_BITS": "64",
        "AXONYM_DEFAULT_INT_BITS": "",
        "OTHER": "x",
    }
    assert _from_environment(environ) == {
        "check": True,
        "backend": "numpy",
        "default_float_bits": 64,
    }


@pytest.mark.parametrize("text", ["0", "false", "No", "off"])
def test_environment_can_switch_a_flag_off(text):
    assert _from_environment({"AXONYM_CHECK": text}) == {"check": False}


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AXONYM_CHECK", "maybe"),
        ("AXONYM_CHECK", "\u0660"),
        *[
            (variable, value)
            for variable in ("AXONYM_DEFAULT_FLOAT_BITS", "AXONYM_DEFAULT_INT_BITS")
            for value in ("16", "064", "٦٤", "+64", "6_4", "64.0", "0x40", "4" * 5000)
        ],
    ],
    ids=lambda text: text[:30],
)
def test_bad_environment_variables_are_named(variable, value):
    with pytest.raises(ConfigError, match=f"environment variable {variable} must be") as caught:
        _from_environment({variable: value})
    assert len(str(caught.value)) < 200


def test_repr_shows_the_values_of_the_thread():
    with config.override(check=True):
        assert "check=True" in repr(config)
        assert "check=False" in in_thread(lambda: repr(config))
