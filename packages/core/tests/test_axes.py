"""The axis environment."""

from __future__ import annotations

import pytest

from axonym_core import AxisEnv
from axonym_core.errors import AxisNameError
from axonym_core.types import as_axis_names


def test_environment_knows_sizes_and_is_compared_by_value() -> None:
    env = AxisEnv().extend("i", 3).extend(("tuple", 1), 4, "device")
    assert env.size("i") == 3
    assert env.size(("tuple", 1)) == 4
    assert env.names_of_kind("device") == {("tuple", 1)}
    assert env == AxisEnv().extend("i", 3).extend(("tuple", 1), 4, "device")
    assert hash(env) == hash(AxisEnv(env.entries))
    assert list(env) == ["i", ("tuple", 1)]


def test_shadowing_and_unknown_names_are_refused_with_the_mend() -> None:
    env = AxisEnv().extend("i", 3)
    with pytest.raises(
        AxisNameError, match=r"'i' is already in scope \(size 3\).*another axis_name"
    ):
        env.extend("i", 3)
    with pytest.raises(AxisNameError, match=r"'j' is not in scope here \(in scope: 'i'\).*vmap"):
        env.size("j")


def test_names_are_normalised() -> None:
    assert as_axis_names("i") == ("i",)
    assert as_axis_names(["i", "j"]) == ("i", "j")
    with pytest.raises(AxisNameError, match="twice"):
        as_axis_names(("i", "i"))
    with pytest.raises(AxisNameError, match="hashable"):
        as_axis_names([{}])
