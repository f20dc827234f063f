"""Traces: who interprets what a program does, and how a program becomes a jaxpr."""

from __future__ import annotations

from .staging import JaxprTrace as JaxprTrace
from .staging import JaxprTracer as JaxprTracer
from .staging import TracedFunction as TracedFunction
from .staging import clear_traces as clear_traces
from .staging import eval_shape as eval_shape
from .staging import expanded as expanded
from .staging import make_jaxpr as make_jaxpr
from .staging import struct_of as struct_of
from .staging import trace_cached as trace_cached
from .staging import trace_flat as trace_flat
from .staging import trace_tree as trace_tree
from .trace import Trace as Trace
from .trace import Tracer as Tracer
from .trace import current_axis_env as current_axis_env
from .trace import eval_trace as eval_trace
from .trace import is_tracer as is_tracer
from .trace import run_and_end as run_and_end
from .trace import run_in as run_in
from .transfers import block_until_ready as block_until_ready
from .transfers import device_get as device_get
from .transfers import device_put as device_put
