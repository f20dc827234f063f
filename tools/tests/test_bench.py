"""The statistics, bookkeeping and table of the benchmark suite; no test here looks at a time."""

from __future__ import annotations

import gc
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.bench import __main__ as command
from tools.bench._bench import Bench, alternate
from tools.bench._child import describe
from tools.bench._figure import Figure, agree, checked, growth
from tools.bench._measure import (
    calls_per_sample,
    interleave,
    median,
    no_collection,
    quartiles,
    sample,
)
from tools.bench._models import workload
from tools.bench._namespace import Side
from tools.bench._process import (
    Failure,
    child_environment,
    failure_reason,
    gather,
    run_child,
    run_task,
)
from tools.bench._report import (
    environment,
    judge,
    quantity,
    ratio_of,
    record,
    summary,
    table,
    write_json,
)
from tools.bench._rows import ROWS, Row, select
from tools.bench._settings import FULL, QUICK
from tools.bench._tasks import Result

Time = st.floats(min_value=1e-9, max_value=1e3)


class FakeClock:
    """A clock that moves only when a fake call spends time on it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[str] = []

    def __call__(self) -> float:
        return self.now

    def spender(self, name: str, seconds: float) -> Callable[[], None]:
        """Return a call that takes ``seconds`` on this clock and is logged."""

        def call() -> None:
            self.now += seconds
            self.log.append(name)

        return call


def ignore(_: Any) -> None:
    """Wait for nothing."""


# Statistics


@given(st.lists(Time, min_size=1, max_size=30))
@settings(max_examples=50, deadline=None)
def test_quartiles_enclose_the_median_and_stay_within_the_samples(samples: list[float]) -> None:
    low, high = quartiles(samples)
    rounding = 1 + 1e-12
    assert min(samples) <= low * rounding
    assert low <= median(samples) * rounding
    assert median(samples) <= high * rounding
    assert high <= max(samples) * rounding


@given(st.lists(Time, min_size=2, max_size=30))
@settings(max_examples=50, deadline=None)
def test_quartiles_are_those_of_numpy(samples: list[float]) -> None:
    assert quartiles(samples) == pytest.approx(tuple(np.quantile(samples, [0.25, 0.75])))


def test_median_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="samples is empty"):
        median([])
    with pytest.raises(ValueError, match="samples is empty"):
        quartiles([])


def test_sample_is_the_time_per_call_and_waits_once() -> None:
    clock = FakeClock()
    waited: list[Any] = []
    per_call = sample(clock.spender("f", 0.25), 4, waited.append, clock)
    assert per_call == 0.25
    assert waited == [None]


@pytest.mark.parametrize(("cost", "expected"), [(0.001, 20), (0.02, 1), (5.0, 1)])
def test_calls_fill_about_one_sample(cost: float, expected: int) -> None:
    clock = FakeClock()
    assert calls_per_sample(clock.spender("f", cost), 0.02, ignore, clock) == expected


def test_a_slow_first_call_does_not_count_for_the_number_of_calls() -> None:
    clock = FakeClock()
    costs = iter([10.0])

    def call() -> None:
        clock.now += next(costs, 0.001)

    assert calls_per_sample(call, 0.02, ignore, clock) == 20


def test_a_call_that_takes_no_time_does_not_hang_the_calibration() -> None:
    assert calls_per_sample(lambda: None, 0.02, ignore, lambda: 0.0) >= 1


def test_interleave_reverses_the_order_from_round_to_round() -> None:
    clock = FakeClock()
    calls = {name: (clock.spender(name, 1.0), ignore) for name in ("ours", "theirs")}
    samples = interleave(calls, 3, 0.5, clock)
    assert samples == {"ours": [1.0] * 3, "theirs": [1.0] * 3}
    assert clock.log[-6:] == ["ours", "theirs", "theirs", "ours", "ours", "theirs"]


def test_interleave_recovers_each_cost() -> None:
    clock = FakeClock()
    calls = {name: (clock.spender(name, cost), ignore) for name, cost in (("a", 2e-3), ("b", 3e-3))}
    samples = interleave(calls, 5, 0.02, clock)
    assert median(samples["a"]) == pytest.approx(2e-3)
    assert median(samples["b"]) == pytest.approx(3e-3)


def test_interleave_refuses_no_rounds() -> None:
    with pytest.raises(ValueError, match="rounds must be at least 1, got 0"):
        interleave({}, 0, 1.0)


def test_garbage_collection_is_back_on_after_an_error() -> None:
    seen: list[bool] = []

    def fail() -> None:
        seen.append(gc.isenabled())
        raise KeyError

    with pytest.raises(KeyError), no_collection():
        fail()
    assert seen == [False]
    assert gc.isenabled()


# Figures


def test_growth_divides_medians_and_keeps_the_bound() -> None:
    grown = growth(Figure((1.0, 2.0, 3.0)), Figure((8.0,), "cut off after 8 s", at_least=True))
    assert grown == Figure((4.0,), "cut off after 8 s", at_least=True)


@pytest.mark.parametrize(
    ("small", "large", "problem"),
    [
        (Figure((), "unavailable: x"), Figure((1.0,)), "unavailable: x"),
        (Figure((9.0,), "cut off", at_least=True), Figure((9.0,)), "cut off"),
        (Figure((0.0,)), Figure((9.0,)), "the smaller one took no measurable time"),
    ],
)
def test_growth_without_a_known_start_has_no_value(
    small: Figure, large: Figure, problem: str
) -> None:
    assert growth(small, large) == Figure((), problem)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_values_that_are_not_finite_do_not_agree(value: float) -> None:
    assert not agree([value], [value])


def test_checked_turns_disagreement_into_a_reason() -> None:
    ours = checked(Figure((1.0,)), Figure((2.0,)), Figure((0.5,)), Figure((0.75, 0.5)))
    assert ours == Figure((), "unavailable: ours computed 0.5, theirs 0.75, 0.5")


# Child processes


def test_the_last_line_printed_is_the_result() -> None:
    assert run_child(["-c", "print('noise'); print('[1]')"], 60) == "[1]"


def test_an_error_in_a_child_gives_its_last_line() -> None:
    assert run_child(["-c", "raise KeyError('name')"], 60) == Failure("KeyError: 'name'")


def test_a_child_that_prints_nothing_is_a_failure() -> None:
    assert run_child(["-c", ""], 60) == Failure("ended with exit status 0")


def test_a_child_that_crashes_is_a_failure() -> None:
    crash = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run_child(["-c", crash], 60) == Failure("crashed with SIGKILL")


def test_a_child_over_the_limit_is_cut_off() -> None:
    ended = run_child(["-c", "import time; time.sleep(600)"], 0.2)
    assert ended == Failure("cut off after 0.2 s", 0.2)


def test_a_task_that_fails_says_why_in_one_line() -> None:
    failed = run_task("calls", (), QUICK, 60, unknown=1)
    assert isinstance(failed, Failure)
    assert failed.reason.startswith("TypeError: calls() got an unexpected keyword argument")


def test_a_marked_line_wins_over_what_follows_it() -> None:
    assert failure_reason(1, "bench-error: ValueError: bad\nlater noise\n") == "ValueError: bad"


def test_an_error_is_described_by_the_first_line_of_its_message() -> None:
    assert describe(ValueError, ValueError("one\ntwo")) == "ValueError: one"
    assert describe(ValueError, ValueError()) == "ValueError"


def test_the_environment_of_a_child_has_nobodys_overrides() -> None:
    found = child_environment("/cache", {"PATH": "p", "AXONYM_BACKEND": "numpy"})
    assert found == {"PATH": "p", "JAX_PLATFORMS": "cpu", "XDG_CACHE_HOME": "/cache"}


def test_gather_joins_samples_and_lets_a_failure_decide() -> None:
    good: Result = {"time": {"ours": [1.0]}}
    assert gather([good, good], "time", "ours") == Figure((1.0, 1.0))
    assert gather([good, Failure("x")], "time", "ours") == Figure((), "unavailable: x")
    cut = gather([good, Failure("cut off after 9 s", 9.0)], "time", "ours")
    assert cut == Figure((9.0,), "cut off after 9 s", at_least=True)


# A run, with children played by functions


class FakeChildren:
    """Answers for child processes: each side takes one second, or fails."""

    def __init__(self, failing: tuple[tuple[str, ...], ...] = (), check: float = 1.0) -> None:
        self.failing = failing
        self.check = check
        self.asked: list[tuple[str, tuple[str, ...], dict[str, Any]]] = []

    def __call__(self, task: str, sides: Any, _: Any, limit: float, **arguments: Any) -> Any:
        self.asked.append((task, tuple(sides), arguments))
        if tuple(sides) in self.failing:
            return Failure(f"{'+'.join(sides)} failed")
        metrics = ("time", "bytes", "compile", "trace", "lower", "trace-again", "lower-again")
        result = {metric: {side: [1.0] for side in sides} for metric in metrics}
        checks = {side: [self.check if side == "ours" else 1.0] for side in sides}
        return {**result, "check": checks}


def fake_import(side: str, limit: float) -> Any:
    """Answer for the process that times an import."""
    return {"time": {side: [1.0]}}


def test_rows_that_share_a_measurement_run_it_once() -> None:
    children = FakeChildren()
    bench = Bench(QUICK, children)
    for metric in ("trace", "lower"):
        assert bench.staging(metric) == (Figure((1.0,)), Figure((1.0,)))
    assert [sides for _, sides, _ in children.asked] == [("ours",), ("theirs",)]


def test_processes_alternate_in_reversed_order() -> None:
    children = FakeChildren()
    Bench(FULL, children).compiling(nested=False)
    order = [sides for _, sides, _ in children.asked]
    assert order == [(s,) for s in ("ours", "theirs", "theirs", "ours", "ours", "theirs")]


def test_a_side_over_its_budget_gets_no_further_process() -> None:
    clock = FakeClock()
    costs: dict[Side, float] = {"ours": 1.0, "theirs": 50.0}

    def run(side: Side) -> Result:
        clock.spender(side, costs[side])()
        return {"time": {side: [costs[side]]}}

    ours, theirs = alternate(3, run, 20.0, clock).pair("time")
    assert ours == Figure((1.0, 1.0, 1.0))
    assert theirs == Figure((50.0,))


def test_a_side_that_failed_is_not_tried_again() -> None:
    children = FakeChildren(failing=(("ours",),))
    ours, theirs = Bench(FULL, children).compiling(nested=True)
    assert ours == Figure((), "unavailable: ours failed")
    assert theirs == Figure((1.0, 1.0, 1.0))
    assert [sides for _, sides, _ in children.asked].count(("ours",)) == 1


def test_when_both_fail_together_each_is_measured_alone() -> None:
    children = FakeChildren(failing=(("ours", "theirs"), ("ours",)))
    ours, theirs = Bench(QUICK, children).calls("eager-add")
    assert ours == Figure((), "unavailable: ours failed")
    assert theirs == Figure((1.0,))


def test_figures_measured_apart_say_so() -> None:
    children = FakeChildren(failing=(("ours", "theirs"),))
    ours, _ = Bench(QUICK, children).calls("eager-add")
    assert ours == Figure((1.0,), "measured apart, since together: ours+theirs failed")


def test_a_step_that_computes_something_else_has_no_figure() -> None:
    ours, theirs = Bench(QUICK, FakeChildren(check=1.1)).steps("mlp")
    assert ours == Figure((), "unavailable: ours computed 1.1, theirs 1")
    assert theirs == Figure((1.0,))


def test_memory_compares_our_named_axis_with_their_way() -> None:
    children = FakeChildren()
    Bench(QUICK, children).memory("embedding-memory", "per-example")
    assert {sides: arguments["how"] for _, sides, arguments in children.asked} == {
        ("ours",): "named-axis",
        ("theirs",): "per-example",
    }


def test_growth_measures_both_depths() -> None:
    children = FakeChildren()
    assert Bench(QUICK, children).compile_growth(nested=True)[0].value == 1.0
    assert {arguments["deep"] for _, _, arguments in children.asked} == {False, True}


def test_the_first_import_of_each_side_does_not_count() -> None:
    ours, theirs = Bench(QUICK, FakeChildren(), fake_import).imports()
    assert len(ours.samples) == len(theirs.samples) == QUICK.import_repeats


# Rows, verdicts, table


RATIO = Row("r", "a ratio", 0.5)
OWN = Row("o", "our own figure", 1.5, unit="times", judged="ours")


@pytest.mark.parametrize(
    ("row", "ours", "theirs", "verdict"),
    [
        (RATIO, Figure((1.0,)), Figure((2.0,)), "ok"),
        (RATIO, Figure((1.1,)), Figure((2.0,)), "MISS"),
        (RATIO, Figure((), "unavailable: x"), Figure((2.0,)), "not yet"),
        (RATIO, Figure((1.0,)), Figure((), "unavailable: x"), "not yet"),
        (RATIO, Figure((1.0,)), Figure((9.0,), "cut off", at_least=True), "ok"),
        (RATIO, Figure((8.0,)), Figure((9.0,), "cut off", at_least=True), "not yet"),
        (RATIO, Figure((9.0,), "cut off", at_least=True), Figure((2.0,)), "MISS"),
        (RATIO, Figure((9.0,), "cut off", at_least=True), Figure((90.0,)), "not yet"),
        (RATIO, Figure((9.0,), at_least=True), Figure((9.0,), at_least=True), "not yet"),
        (RATIO, Figure((1.0,)), Figure((0.0,)), "MISS"),
        (OWN, Figure((1.5,)), Figure((), "unavailable: x"), "ok"),
        (OWN, Figure((1.6,)), Figure((4.0,)), "MISS"),
        (OWN, Figure((1.6,), "cut off", at_least=True), Figure((4.0,)), "MISS"),
        (OWN, Figure((1.4,), "cut off", at_least=True), Figure((4.0,)), "not yet"),
    ],
)
def test_verdicts(row: Row, ours: Figure, theirs: Figure, verdict: str) -> None:
    assert judge(row, (ours, theirs), 0.0).verdict == verdict


def test_a_row_that_is_missing_gives_its_reason() -> None:
    line = judge(Row("m", "what", 1.0, missing="not in this slice"), (Figure(), Figure()), 0.0)
    assert (line.verdict, line.note, line.ratio) == ("not yet", "not in this slice", None)


def test_the_reason_of_each_side_is_noted() -> None:
    line = judge(RATIO, (Figure((), "one"), Figure((), "two")), 0.0)
    assert line.note == "ours: one; theirs: two"


def test_a_miss_within_the_spread_is_still_a_miss_but_says_so() -> None:
    line = judge(RATIO, (Figure((1.0, 1.2, 1.4)), Figure((1.8, 2.0, 2.4))), 0.0)
    assert line.verdict == "MISS"
    assert "within the spread" in line.note
    assert "spread" not in judge(RATIO, (Figure((1.2,)), Figure((2.0,))), 0.0).note


def test_nothing_against_nothing_is_a_ratio_of_one() -> None:
    assert ratio_of(Figure((0.0,)), Figure((0.0,))) == (1.0, "")


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (2.5, "s", "2.50 s"),
        (0.0123, "s", "12.3 ms"),
        (1.234e-4, "s", "123 us"),
        (5e-9, "s", "5.00 ns"),
        (1e-12, "s", "0.00 ns"),
        (0.0, "s", "0 ns"),
        (3.28e8, "B", "328 MB"),
        (12.0, "B", "12.0 B"),
        (1.0, "count", "1.00"),
    ],
)
def test_quantities_have_a_fitting_unit(value: float, unit: Any, expected: str) -> None:
    assert quantity(value, unit) == expected


def example_lines() -> list[Any]:
    """Return one line of each kind."""
    cut = Figure((9.0,), "cut off after 9 s", at_least=True)
    return [
        judge(RATIO, (Figure((1.0,)), cut), 1.0),
        judge(RATIO, (Figure((1.0,)), Figure((0.0,))), 1.0),
        judge(OWN, (Figure((1.25,)), Figure((4.0,))), 1.0),
        judge(Row("m", "missing", 0.01, missing="not in this slice"), (Figure(), Figure()), 0.0),
    ]


def test_the_table_shows_every_line_and_every_reason() -> None:
    text = table(example_lines()).splitlines()
    assert text[0].split() == ["row", "what", "ours", "theirs", "ratio", "target", "verdict"]
    assert " ".join(text[2].split()) == "r a ratio 1.00 s >= 9.00 s <= 0.11 0.50 ok"
    assert text[3].strip() == "(theirs: cut off after 9 s)"
    assert text[4].split()[-3:] == ["inf", "0.50", "MISS"]
    assert " ".join(text[5].split()) == "o our own figure 1.25 x 4.00 x 0.31 ours 1.50 ok"
    assert " ".join(text[6].split()) == "m missing - - - 0.01 not yet"
    assert text[7].strip() == "(not in this slice)"
    assert len(text) == 8


def test_the_columns_of_the_table_line_up() -> None:
    text = [line for line in table(example_lines()).splitlines() if "(" not in line]
    start = text[0].index("verdict")
    assert {line[start - 2 : start] for line in text} == {"  "}


def test_verdicts_are_counted() -> None:
    assert summary(example_lines()) == "2 ok, 1 MISS, 1 not yet"


def test_the_record_survives_json_with_every_sample(tmp_path: Path) -> None:
    path = tmp_path / "new" / "record.json"
    write_json(path, record(example_lines(), QUICK, environment()))
    read = json.loads(path.read_text(encoding="utf-8"))
    first, infinite, *_ = read["rows"]
    assert first["ours"]["samples"] == [1.0]
    assert first["theirs"]["at_least"] is True
    assert first["bound"] == "<="
    assert infinite["ratio"] is None
    assert infinite["verdict"] == "MISS"
    assert read["settings"]["quick"] is True
    assert set(read["environment"]["versions"]) == {"axonym", "jax", "jaxlib", "numpy"}


def test_row_names_are_unique_and_each_row_measures_or_says_why_not() -> None:
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    assert all((row.measure is None) == bool(row.missing) for row in ROWS)


def test_rows_are_selected_by_the_beginning_of_their_names() -> None:
    assert select([]) == ROWS
    assert [row.name for row in select(["dispatch"])] == ["dispatch-scalar", "dispatch-tree"]
    with pytest.raises(ValueError, match="--only nonsense: no row is called so; there are import"):
        select(["nonsense"])


def test_every_row_measures_with_children_that_answer() -> None:
    bench = Bench(QUICK, FakeChildren(), fake_import)
    lines = [command.measure(row, bench) for row in ROWS]
    assert [line.verdict for line in lines if line.row.missing] == ["not yet", "not yet"]
    assert all(line.ratio == 1.0 for line in lines if not line.row.missing)


def test_every_workload_that_a_row_names_exists() -> None:
    children = FakeChildren()
    bench = Bench(QUICK, children, fake_import)
    for row in ROWS:
        command.measure(row, bench)
    models = {arguments["model"] for _, _, arguments in children.asked if "model" in arguments}
    assert len(models) == 8
    for model in models:
        load = workload(model, QUICK)
        assert load.batch[0].shape[0] == load.batch[1].shape[0]


def test_the_command_prints_its_table_and_writes_its_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "record.json"
    assert command.main(["--only", "all-reduces", "second", "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "not in this slice: meshes and shard_map" in printed
    assert "0 ok, 0 MISS, 2 not yet" in printed
    assert len(json.loads(path.read_text(encoding="utf-8"))["rows"]) == 2


def test_the_command_refuses_an_unknown_row(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--only", "nonsense"])
    assert ended.value.code == 2
    assert "no row is called so" in capsys.readouterr().err
