"""The exceptions of all packages.

`AxonymError` is the base of all, and each package has one of its own below it. Three packages have
an `ArgumentError`; those are in `axonym_compile`, `axonym_numpy.errors` and `axonym_xla.errors`,
and are caught as `CompileError`, `NumpyError` and `XlaError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ._lazy import lazy as _lazy

if TYPE_CHECKING:
    from axonym_autodiff.errors import AutodiffError as AutodiffError
    from axonym_autodiff.errors import CustomRuleError as CustomRuleError
    from axonym_autodiff.errors import NotDifferentiableError as NotDifferentiableError
    from axonym_autodiff.errors import NotLinearError as NotLinearError
    from axonym_compile.errors import CompileError as CompileError
    from axonym_compile.errors import StaticArgumentError as StaticArgumentError
    from axonym_core.errors import ArgumentTypeError as ArgumentTypeError
    from axonym_core.errors import ArgumentValueError as ArgumentValueError
    from axonym_core.errors import AxisNameError as AxisNameError
    from axonym_core.errors import AxonymError as AxonymError
    from axonym_core.errors import BackendError as BackendError
    from axonym_core.errors import ConcretizationError as ConcretizationError
    from axonym_core.errors import ConcretizationTypeError as ConcretizationTypeError
    from axonym_core.errors import ConfigError as ConfigError
    from axonym_core.errors import DTypeError as DTypeError
    from axonym_core.errors import EffectError as EffectError
    from axonym_core.errors import ExportError as ExportError
    from axonym_core.errors import IndexingError as IndexingError
    from axonym_core.errors import IndexTypeError as IndexTypeError
    from axonym_core.errors import IntegerRangeError as IntegerRangeError
    from axonym_core.errors import InternalError as InternalError
    from axonym_core.errors import JaxprTypeError as JaxprTypeError
    from axonym_core.errors import NonConcreteBooleanIndexError as NonConcreteBooleanIndexError
    from axonym_core.errors import OutOfMemoryError as OutOfMemoryError
    from axonym_core.errors import PrimitiveNameError as PrimitiveNameError
    from axonym_core.errors import RecursiveCallError as RecursiveCallError
    from axonym_core.errors import ShapeError as ShapeError
    from axonym_core.errors import TracerArrayConversionError as TracerArrayConversionError
    from axonym_core.errors import TracerBoolConversionError as TracerBoolConversionError
    from axonym_core.errors import TracerError as TracerError
    from axonym_core.errors import TracerIntegerConversionError as TracerIntegerConversionError
    from axonym_core.errors import TracerLeakError as TracerLeakError
    from axonym_core.errors import TreeDepthError as TreeDepthError
    from axonym_core.errors import TreeStructureError as TreeStructureError
    from axonym_core.errors import UnexpectedTracerError as UnexpectedTracerError
    from axonym_distributed.errors import DistributedError as DistributedError
    from axonym_distributed.errors import PlatformError as PlatformError
    from axonym_distributed.errors import ProcessArgumentError as ProcessArgumentError
    from axonym_distributed.errors import ProcessIndexError as ProcessIndexError
    from axonym_mapping.errors import BatchingRuleError as BatchingRuleError
    from axonym_mapping.errors import MappedAxisError as MappedAxisError
    from axonym_mapping.errors import MappingError as MappingError
    from axonym_numpy.errors import NumpyError as NumpyError
    from axonym_random.errors import DistributionError as DistributionError
    from axonym_random.errors import KeyArrayError as KeyArrayError
    from axonym_random.errors import KeyTypeError as KeyTypeError
    from axonym_random.errors import RandomDTypeError as RandomDTypeError
    from axonym_random.errors import RandomError as RandomError
    from axonym_random.errors import RandomShapeError as RandomShapeError
    from axonym_xla.errors import BufferDTypeError as BufferDTypeError
    from axonym_xla.errors import ClientError as ClientError
    from axonym_xla.errors import CompilationError as CompilationError
    from axonym_xla.errors import CompileOptionError as CompileOptionError
    from axonym_xla.errors import DeletedBufferError as DeletedBufferError
    from axonym_xla.errors import DeviceError as DeviceError
    from axonym_xla.errors import ExecutionError as ExecutionError
    from axonym_xla.errors import XlaError as XlaError

_HOMES: Final = {
    "axonym_autodiff.errors": (
        "AutodiffError CustomRuleError NotDifferentiableError NotLinearError"
    ),
    "axonym_compile.errors": "CompileError StaticArgumentError",
    "axonym_core.errors": (
        "ArgumentTypeError ArgumentValueError AxisNameError AxonymError BackendError "
        "ConcretizationError ConcretizationTypeError ConfigError DTypeError EffectError "
        "ExportError IndexTypeError IndexingError IntegerRangeError InternalError "
        "JaxprTypeError NonConcreteBooleanIndexError OutOfMemoryError PrimitiveNameError "
        "RecursiveCallError ShapeError TracerArrayConversionError TracerBoolConversionError "
        "TracerError TracerIntegerConversionError TracerLeakError TreeDepthError "
        "TreeStructureError "
        "UnexpectedTracerError"
    ),
    "axonym_distributed.errors": (
        "DistributedError PlatformError ProcessArgumentError ProcessIndexError"
    ),
    "axonym_mapping.errors": "BatchingRuleError MappedAxisError MappingError",
    "axonym_numpy.errors": "NumpyError",
    "axonym_random.errors": (
        "DistributionError KeyArrayError KeyTypeError RandomDTypeError RandomError RandomShapeError"
    ),
    "axonym_xla.errors": (
        "BufferDTypeError ClientError CompilationError CompileOptionError DeletedBufferError "
        "DeviceError ExecutionError XlaError"
    ),
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = _lazy(__name__, _HOMES)

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "AutodiffError",
    "AxisNameError",
    "AxonymError",
    "BackendError",
    "BatchingRuleError",
    "BufferDTypeError",
    "ClientError",
    "CompilationError",
    "CompileError",
    "CompileOptionError",
    "ConcretizationError",
    "ConcretizationTypeError",
    "ConfigError",
    "CustomRuleError",
    "DTypeError",
    "DeletedBufferError",
    "DeviceError",
    "DistributedError",
    "DistributionError",
    "EffectError",
    "ExecutionError",
    "ExportError",
    "IndexTypeError",
    "IndexingError",
    "IntegerRangeError",
    "InternalError",
    "JaxprTypeError",
    "KeyArrayError",
    "KeyTypeError",
    "MappedAxisError",
    "MappingError",
    "NonConcreteBooleanIndexError",
    "NotDifferentiableError",
    "NotLinearError",
    "NumpyError",
    "OutOfMemoryError",
    "PlatformError",
    "PrimitiveNameError",
    "ProcessArgumentError",
    "ProcessIndexError",
    "RandomDTypeError",
    "RandomError",
    "RandomShapeError",
    "RecursiveCallError",
    "ShapeError",
    "StaticArgumentError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerError",
    "TracerIntegerConversionError",
    "TracerLeakError",
    "TreeDepthError",
    "TreeStructureError",
    "UnexpectedTracerError",
    "XlaError",
]
