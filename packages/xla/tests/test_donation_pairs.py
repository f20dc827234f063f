"""Which result takes over the memory of which donated argument."""

from __future__ import annotations

import re

import numpy as np

import axonym_xla
from axonym_core import ShapeDtypeStruct, lax, make_jaxpr


def test_a_donated_buffer_goes_to_a_result_of_its_shape_and_dtype() -> None:
    jaxpr = make_jaxpr(lambda x, y: (lax.add(y, y), lax.neg(x), lax.neg(y)))(
        ShapeDtypeStruct((4,), "float32"), ShapeDtypeStruct((4,), "int32")
    )
    text = axonym_xla.backend.lower(jaxpr, donated=(True, True)).as_text()
    pairs = re.findall(r"tensor<4x(f32|i32)> \{tf.aliasing_output = (\d)", text)
    assert sorted(pairs) == [("f32", "1"), ("i32", "0")]


def test_a_donated_buffer_without_such_a_result_goes_to_none() -> None:
    jaxpr = make_jaxpr(lambda x: lax.convert_element_type(x, "int32"))(np.ones(4, np.float32))
    text = axonym_xla.backend.lower(jaxpr, donated=(True,)).as_text()
    assert "tf.aliasing_output" not in text
    assert "jax.buffer_donor" in text
