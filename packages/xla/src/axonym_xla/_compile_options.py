"""How programs are compiled: everything that is told to XLA besides the program.

Compiling the smallest program takes XLA many milliseconds, most of them in the code generator, and
far longer than running it. So there are three degrees of effort:

=========  =======================================================================================
`full`     What XLA does by itself. For programs that users compile.
`quick`    The cheapest way that leaves the speed of *single* operations as it is. jaxlib up to
           0.11.0 generates code in half the time without its emitters for fusions; later ones have
           no such choice, and `quick` is `full`.
`least`    `quick`, and no optimisation by LLVM: another 15 to 50 % off the time to compile, but
           loops over many elements run 2 to 15 times as long. For operations on a few elements.
=========  =======================================================================================

Results of `least` may differ from the others in the last digit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np

from . import _jaxlib
from ._jaxlib import CompileOptions, Device
from .errors import CompileOptionError

__all__ = ["Effort", "compile_options"]

Effort = Literal["full", "quick", "least"]
OptionValue = str | bool | int | float

_EFFORTS: Final = ("full", "quick", "least")


def compile_options(
    *,
    effort: Effort = "full",
    device: Device | None = None,
    overrides: Mapping[str, OptionValue] | None = None,
) -> CompileOptions:
    """Collect the options for one compilation.

    Args:
        effort: How much time to spend on making the program fast, see above.
        device: The device to compile for (None: the first one).
        overrides: XLA's own options by name, as in `{"xla_cpu_enable_fast_math": True}`. They
            differ between versions of jaxlib; one that does not exist is an error when a program
            is compiled.

    Returns:
        Options that any number of compilations may share; do not change them.

    Raises:
        CompileOptionError: There is no such effort, or an override is not an option of XLA.

    Example:
        >>> compile_options(effort="quick").num_partitions
        1
    """
    if effort not in _EFFORTS:
        raise CompileOptionError(f"effort must be one of {', '.join(_EFFORTS)}; got {effort!r}.")
    options = _jaxlib.new_compile_options()
    flags: list[tuple[str, Any]] = []
    if effort != "full" and _jaxlib.HAS_PLAIN_EMITTERS:
        flags.append(("xla_cpu_use_fusion_emitters", False))
    if effort == "least":
        options.executable_build_options.debug_options.xla_backend_optimization_level = 0
    for name, value in (overrides or {}).items():
        if not str(name).startswith("xla_"):
            raise CompileOptionError(
                f"overrides has the key {name!r}; XLA's options begin with 'xla_'."
            )
        if not isinstance(value, (str, bool, int, float)):
            raise CompileOptionError(
                f"overrides[{name!r}] must be a string, a truth value or a number; got {value!r} "
                f"of type {type(value).__name__}."
            )
        flags.append((name, value))
    options.env_option_overrides = flags
    if device is not None and device.id != 0:
        # Without it the program is compiled for device 0, whatever devices it is loaded on.
        options.device_assignment = _jaxlib.new_device_assignment(np.array([[device.id]], np.int32))
    return options
