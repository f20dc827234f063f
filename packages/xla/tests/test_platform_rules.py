"""Lowering rules of one platform go before those of all platforms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from axonym_core import Primitive, make_jaxpr
from axonym_core.errors import BackendError
from axonym_xla.errors import ArgumentError
from axonym_xla.extend import LoweringContext, lower_jaxpr, lowering_rules, register_lowering
from axonym_xla.lowering import registry


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Rules of a test are gone afterwards."""
    rules = dict(lowering_rules)
    monkeypatch.setattr(registry, "_platform_rules", {})
    yield
    lowering_rules.clear()
    lowering_rules.update(rules)


def writes(operation: str) -> Any:
    def rule(ctx: LoweringContext, avals_in: Any, avals_out: Any, x: str) -> str:
        return ctx.op(f"stablehlo.{operation} {x} : {ctx.type(avals_out[0])}")

    return rule


def text_of(primitive: Primitive, platform: str) -> str:
    jaxpr = make_jaxpr(lambda x: primitive.bind(x))(np.float32(1.0))
    return lower_jaxpr(jaxpr, platform=platform).text


@pytest.mark.usefixtures("kept")
def test_the_most_specific_rule_wins() -> None:
    wave = Primitive("wave_of_this_test", lambda x: x)
    register_lowering(wave, writes("cosine"), platform="tpu")
    register_lowering(wave, writes("sine"))
    register_lowering(wave, writes("tanh"), platform="cuda")

    for platform, wanted in (("cpu", "sine"), ("cuda", "tanh"), ("tpu", "cosine")):
        assert f"stablehlo.{wanted}" in text_of(wave, platform)
    register_lowering(wave, writes("exponential"), platform="cuda")
    assert "stablehlo.exponential" in text_of(wave, "cuda")
    assert "stablehlo.sine" in text_of(wave, "cpu")


@pytest.mark.usefixtures("kept")
def test_a_missing_rule_names_primitive_and_platform() -> None:
    only = Primitive("only_of_this_test", lambda x: x)
    with pytest.raises(BackendError, match=r"only_of_this_test: .* platform is 'cpu'"):
        text_of(only, "cpu")
    register_lowering(only, writes("sine"), platform="cuda")
    with pytest.raises(
        BackendError, match=r"only_of_this_test: .*'cpu', and there is a rule for cuda"
    ):
        text_of(only, "cpu")
    assert "stablehlo.sine" in text_of(only, "cuda")


@pytest.mark.usefixtures("kept")
def test_a_rule_of_one_platform_goes_before_an_expansion() -> None:
    twice = Primitive("twice_of_this_test", lambda x: x, expand=lambda x: x + x)
    register_lowering(twice, writes("negate"), platform="cuda")

    assert "stablehlo.add" in text_of(twice, "cpu")
    assert "stablehlo.negate" in text_of(twice, "cuda")


@pytest.mark.parametrize("platform", ["", 3, b"cpu"])
def test_a_platform_is_a_name(platform: Any) -> None:
    with pytest.raises(ArgumentError, match="platform must be a name"):
        register_lowering(Primitive("no_platform", lambda x: x), writes("sine"), platform)
