"""Repeat counts, sizes and limits of a run: the one place where they are set.

Two runs are defined, `FULL` and `QUICK`. Figures of a quick run are good for noticing that
something broke; the targets are meant for the sizes of the full run.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class TransformerSize:
    """Sizes of the transformer whose training step is traced, lowered, compiled and run."""

    width: int = 256
    heads: int = 4
    length: int = 64
    batch: int = 8
    vocabulary: int = 256
    layers: int = 12


@dataclass(frozen=True)
class Settings:
    """Everything that decides how long a run takes and how steady its figures are.

    Attributes:
        quick: Whether the sizes are the small ones.
        import_repeats: Fresh processes per side for the import row.
        rounds: Alternating samples per side of a row measured inside one process.
        sample_seconds: Length of one such sample; it decides how many calls are timed together.
        step_rounds: The same as ``rounds`` for the steps of whole models.
        step_seconds: The same as ``sample_seconds`` for them.
        trace_processes: Fresh processes per side for tracing and lowering.
        trace_repeats: Repeated traces inside each of these processes.
        compile_processes: Fresh processes per side for compiling, at each depth.
        compile_budget: Seconds after which a side gets no further process for it.
        compile_limit: Seconds after which a child that compiles is stopped.
        task_limit: Seconds after which any other child is stopped.
        transformer: Sizes of the transformer.
        deep_factor: How many times deeper the second transformer of the growth rows is.
        memory_batch: Examples per batch of the memory rows.
        embedding: Rows and columns of the embedding table of the memory rows.
    """

    quick: bool = False
    import_repeats: int = 9
    rounds: int = 21
    sample_seconds: float = 0.02
    step_rounds: int = 9
    step_seconds: float = 0.1
    trace_processes: int = 5
    trace_repeats: int = 3
    compile_processes: int = 3
    compile_budget: float = 20.0
    compile_limit: float = 120.0
    task_limit: float = 120.0
    transformer: TransformerSize = field(default_factory=TransformerSize)
    deep_factor: int = 4
    memory_batch: int = 256
    embedding: tuple[int, int] = (5000, 64)


FULL = Settings()

QUICK = Settings(
    quick=True,
    import_repeats=3,
    rounds=7,
    sample_seconds=0.01,
    step_rounds=5,
    step_seconds=0.05,
    trace_processes=1,
    trace_repeats=2,
    compile_processes=1,
    compile_limit=25.0,
    task_limit=40.0,
    transformer=TransformerSize(width=32, heads=2, length=16, batch=2, vocabulary=64, layers=2),
)
