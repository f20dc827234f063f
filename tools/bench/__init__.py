"""The benchmark suite: Axonym beside ``jax`` on the same ``jaxlib``, row by row.

Run it from the root of the repository::

    python -m tools.bench                      # every row, under ten minutes on two cores
    python -m tools.bench --quick              # small sizes and few repeats, under two minutes
    python -m tools.bench --only trace lower   # the rows whose names start with these words
    python -m tools.bench --json out.json      # where the full record goes

It prints one line per row with both figures, their ratio, the target and a verdict, and writes
every sample to a JSON file. The rules that keep the figures honest:

* each workload is written once, as a function of a :class:`~tools.bench._namespace.Namespace`,
  so both sides run the very same program;
* every measurement happens in a fresh child process. What can share a process (dispatch, eager
  calls, steps of a compiled program) is interleaved there in alternating order; what cannot
  (import, tracing, compiling) alternates between processes;
* before the step of a model is timed, both sides must have computed the same losses;
* a child that measures Axonym alone fails if that imported ``jax``;
* a row that cannot be measured stays in the table with the reason.

The modules, in the order in which they build on each other: ``_settings`` (sizes and repeat
counts), ``_namespace`` (the two sides), ``_models`` (the programs), ``_measure`` (clocks and
statistics), ``_tasks`` and ``_staging`` (what a child process measures), ``_child`` (its entry
point), ``_figure`` (samples, bounds, reasons), ``_process`` (running children), ``_bench`` (one
run), ``_rows`` (which rows there are), ``_report`` (ratios, verdicts, table, JSON).
"""
