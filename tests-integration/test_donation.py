"""Donated arguments give their memory to results of their own type, and no others do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym_core import config


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_keyword_arguments_are_donated_by_name_in_whatever_order(order: tuple[str, str]) -> None:
    step = ax.jit(lambda *, a, b: (a + 1, b * 2), donate_argnames="a")
    with config.override(backend="xla"):
        arrays = {name: anp.asarray(np.arange(3.0) + ord(name)) for name in order}

        more, twice = step(**arrays)

        np.testing.assert_array_equal(more, np.arange(3.0) + ord("a") + 1)
        np.testing.assert_array_equal(twice, 2 * (np.arange(3.0) + ord("b")))
        assert {name: x.is_deleted() for name, x in arrays.items()} == {"a": True, "b": False}


def test_memory_goes_to_a_result_of_the_same_dtype_only() -> None:
    def text(dtype: Any) -> str:
        fun = ax.jit(lambda x: ax.lax.convert_element_type(x, dtype), donate_argnums=0)
        return str(fun.lower(np.arange(3, dtype=np.int32)).as_text())

    with config.override(backend="xla"):
        assert "tf.aliasing_output" in text(np.int32)
        assert "tf.aliasing_output" not in text(np.float32)
