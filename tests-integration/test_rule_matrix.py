"""Every primitive has every rule, or says in one line why not; and every rule is right.

The rows are the primitives of all packages; the columns are what can be done with one: evaluation
by NumPy, JVP, transposition, batching and lowering to XLA. Whether a rule is right is found out
from the case tables in `rule_cases`, by means that need none of the rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from rule_cases import CASES
from rule_cases.case import Case
from rule_cases.checks import CHECKS

import axonym as ax
from axonym_autodiff.rule_tables import jvp_rules, transpose_rules
from axonym_core import config
from axonym_core.numpy_backend import evaluation_rules
from axonym_core.programs import Primitive, registry
from axonym_mapping.rule_tables import batching_rules
from axonym_xla.lowering import lowering_rules

TABLES: Mapping[str, Mapping[Primitive, Any]] = {
    "evaluation": evaluation_rules,
    "jvp": jvp_rules,
    "transpose": transpose_rules,
    "batching": batching_rules,
    "lowering": lowering_rules,
}

# Primitives that tests define are none of the packages'.
PRIMITIVES = sorted(
    (p for p in registry.values() if p.module.startswith("axonym_")),
    key=lambda p: p.name,
)

FAMILIES = {
    "elementwise": ("add", "mul", "sin", "select_n", "convert_element_type"),
    "shape": ("reshape", "transpose", "concatenate", "pad", "slice", "iota", "broadcast_in_dim"),
    "reductions": ("reduce_sum", "reduce_max", "reduce_prod", "argmax"),
    "contractions": ("dot_general",),
    "convolutions": ("conv_general_dilated",),
    "indexing": ("gather", "scatter_add"),
    "control": ("scan", "while", "cond"),
    "calls": ("jit", "custom_jvp_call", "custom_vjp_call"),
    "collectives": ("psum", "pmax", "pmin", "axis_index", "pbroadcast"),
    "random bits": ("threefry2x32",),
}


@pytest.mark.parametrize("cell", TABLES)
def test_every_rule_exists_or_its_absence_has_a_reason(cell: str) -> None:
    holes = [
        p.name
        for p in PRIMITIVES
        if p not in TABLES[cell]
        and not p.why_absent(cell)
        and not (cell == "batching" and p.kind == "elementwise")
    ]

    assert holes == []


@pytest.mark.parametrize("cell", TABLES)
def test_no_rule_that_exists_is_said_to_be_absent(cell: str) -> None:
    contradictions = [p.name for p in PRIMITIVES if p in TABLES[cell] and cell in p.absent]

    assert contradictions == []


def test_a_primitive_is_linear_where_it_can_be_transposed() -> None:
    said = {p.name for p in PRIMITIVES if p.linear}

    assert said == {p.name for p in PRIMITIVES if p in transpose_rules}


def test_reasons_are_one_line_about_a_cell_of_the_matrix() -> None:
    for p in PRIMITIVES:
        for cell, reason in p.absent.items():
            assert cell in TABLES, f"{p.name}: {cell} is no cell"
            assert reason.strip(), f"{p.name}: no reason for {cell}"
            assert "\n" not in reason, f"{p.name}: the reason for {cell} has several lines"


def test_a_primitive_that_is_expanded_says_into_what() -> None:
    for p in PRIMITIVES:
        if any("expanded" in reason for reason in p.absent.values()):
            assert p.expand is not None, p.name


def test_what_a_linear_primitive_lacks_in_jvp_is_not_hidden_by_a_transpose() -> None:
    """A primitive that can be transposed but not differentiated is a mistake of registration.

    Save for the linear maps that only tapes hold, which are expanded.
    """
    odd = [
        p.name
        for p in PRIMITIVES
        if p in transpose_rules and p not in jvp_rules and p.expand is None
    ]

    assert odd == []


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_there(family: str) -> None:
    assert [name for name in FAMILIES[family] if name not in registry] == []


def test_rules_belong_to_registered_primitives() -> None:
    for cell, table in TABLES.items():
        strangers = [p.name for p in table if registry.get(p.name) is not p]
        assert strangers == [], cell


def test_every_primitive_has_cases() -> None:
    assert [p.name for p in PRIMITIVES if p.name not in CASES] == []


# Linear maps that only open transformations know, and that staging expands.
TRANSIENT = {p.name for p in PRIMITIVES if p.transient}


@pytest.mark.parametrize("name", sorted(CASES.keys() - TRANSIENT))
def test_cases_of_a_primitive_bind_it(name: str) -> None:
    def bound(case: Case) -> bool:
        env = [] if case.positional is None else [("i", case.size)]
        program = ax.make_jaxpr(case.fun, axis_env=env)(*case.operands)
        return re.search(rf"\b{name}\b", str(program)) is not None

    assert [str(case) for case in CASES[name] if not bound(case)] == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("cell", CHECKS)
@pytest.mark.parametrize("name", sorted(CASES))
def test_every_rule_is_right(name: str, cell: str) -> None:
    with config.override(backend="numpy"):
        CHECKS[cell](*CASES[name])
