"""The exceptions of Axonym: what went wrong, why, and how to mend it.

Every exception that the packages raise on purpose derives from :class:`AxonymError` *and* from
the builtin that Python or NumPy would use for the same mistake. A program may therefore catch
everything with one clause, catch one kind with a precise clause, or go on using the builtin it
always used::

    try:
        loss(params, batch)
    except axonym_core.errors.AxisNameError:  # or NameError, or AxonymError
        ...

A message has four parts: what happened, where (the function and the argument of the caller, never
of this library), why, and one way to mend it. The class docstrings below explain the mistake that
each class stands for; the reference page about errors is made from them. Nothing else lives here,
and this module imports nothing, so that every other module may import it.
"""

from __future__ import annotations

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "AxisNameError",
    "AxonymError",
    "BackendError",
    "ConcretizationError",
    "ConcretizationTypeError",
    "ConfigError",
    "DTypeError",
    "EffectError",
    "ExportError",
    "IndexTypeError",
    "IndexingError",
    "IntegerRangeError",
    "InternalError",
    "JaxprTypeError",
    "NonConcreteBooleanIndexError",
    "OutOfMemoryError",
    "PrimitiveNameError",
    "RecursiveCallError",
    "ShapeError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerError",
    "TracerIntegerConversionError",
    "TracerLeakError",
    "TreeDepthError",
    "TreeStructureError",
    "UnexpectedTracerError",
]


class AxonymError(Exception):
    """The base of every exception that Axonym raises on purpose.

    Catch it to handle any mistake that the library recognised. Exceptions that a user's own
    function raises while it is traced pass through unchanged and are not of this class.
    """


class ArgumentTypeError(AxonymError, TypeError):
    """An argument is of a kind that the function does not take.

    Cause: something else than an array or a number where one is needed, than a function, than an
    integer; or a function returned such a thing. Cure: the message names the argument, what it was
    given and what it takes.

    Example:
        >>> from axonym_core.types.avals import aval_of
        >>> aval_of("text")
        Traceback (most recent call last):
        ...
        axonym_core.errors.ArgumentTypeError: expected an array or a number, got str: ...
    """


class ArgumentValueError(AxonymError, ValueError):
    """An argument is of the right kind and has a value that the function cannot use.

    Cause: a position beyond the arguments of a function, an option that does not exist, a number
    out of range. Cure: the message names the argument, its value and those that are possible.

    Example:
        >>> from axonym_core import lax
        >>> lax.switch(0, [])
        Traceback (most recent call last):
        ...
        axonym_core.errors.ArgumentValueError: switch: needs at least one branch
    """


class ConfigError(AxonymError, ValueError):
    """A setting does not exist, or was given a value that it cannot take.

    Cause: a misspelt name, or a value outside the documented ones, in ``config.update``,
    ``config.override`` or an environment variable. Cure: use one of the values in the message.

    Example:
        >>> from axonym_core.settings.configuration import config
        >>> config.update(default_float_bits=16)
        Traceback (most recent call last):
        ...
        axonym_core.errors.ConfigError: config.default_float_bits must be 32 or 64; got 16.
    """


class DTypeError(AxonymError, TypeError):
    """A dtype does not exist, is not supported here, or does not combine with another one.

    Causes: a misspelt dtype; a NumPy dtype without numbers in it (strings, objects, dates) or
    wider than any accelerator has (``longdouble``); two dtypes without a common one, such as an
    8-bit float and ``bfloat16``; an integer where a floating-point number is needed. Cure: name a
    supported dtype, or convert explicitly with ``x.astype(...)``.

    Example:
        >>> from axonym_core.types.dtypes import as_dtype
        >>> as_dtype("flaot32")
        Traceback (most recent call last):
        ...
        axonym_core.errors.DTypeError: dtype='flaot32' is not a dtype; did you mean 'float32'?
    """


class IntegerRangeError(DTypeError, OverflowError):
    """A Python integer is out of the range of the dtype that it is to have.

    Causes: the array beside it has a narrower dtype; nothing else decided, and the default integer
    dtype has 32 bits; the integer needs more than 64. Cure: convert the array
    (``x.astype("int64")``), give the integer a dtype of its own (``numpy.int64(n)``), or use a
    float.

    Example:
        >>> import numpy as np
        >>> from axonym_core import lax
        >>> lax.add(np.ones(3, np.int8), 1000)
        Traceback (most recent call last):
        ...
        axonym_core.errors.IntegerRangeError: the integer 1000 does not fit int8, ...
    """


class ShapeError(AxonymError, ValueError):
    """The shapes of the operands do not fit each other or the operation.

    Cause: an operation got arrays whose dimensions cannot be combined, or a shape argument that
    the data cannot take. The message lists every operand with its shape, named axes included.
    Cure: reshape or broadcast one of them explicitly::

        lax.add(numpy.zeros(3), numpy.zeros(4))  # ShapeError: f32[3] and f32[4]
        lax.dot(a, b)  # ShapeError unless a.shape[-1] == b.shape[0]
    """


class AxisNameError(AxonymError, NameError, ValueError):
    """A named axis is unknown, hides another one, or has a different size than it should.

    Causes and cures:

    * *Unknown name*: a collective or ``reduce_axes`` names an axis that no enclosing ``vmap`` or
      ``xmap`` brings into scope. Give that transformation the name, or trace with
      ``make_jaxpr(f, axis_env=[(name, size)])``.
    * *Shadowed name*: two nested transformations use one name. Rename one of them.
    * *Wrong size*: a value of another mapping, in which the name had another size, was captured.
      Pass it as an argument.

    What does not fit in the ``in_axes`` and ``out_axes`` of a mapping is a ``MappedAxisError`` of
    the package ``axonym_mapping``.

    Example::

        vmap(lambda x: x - lax.pmean(x, "batch"))(xs)  # AxisNameError: unknown axis 'batch'
        vmap(lambda x: x - lax.pmean(x, "batch"), axis_name="batch")(xs)  # mended
    """


class TreeStructureError(AxonymError, ValueError):
    """Two pytrees that should have the same structure do not, or a class cannot be a node of one.

    Causes: ``tree_map`` over different containers, an ``in_axes`` that is not a prefix of the
    arguments, a loop body that returns another structure than its carry, a class that is
    registered twice. Cure: the message gives the path of the first difference and both sides; make
    them alike.

    Example:
        >>> from axonym_core.trees import tree_map
        >>> tree_map(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 1, "b": (2, 3, 4)})
        Traceback (most recent call last):
        ...
        axonym_core.errors.TreeStructureError: tree_map: tree 2 differs from tree 1 at ['b']: \
tree 1 has a tuple of length 2, tree 2 has a tuple of length 3. Give every tree the structure of \
tree 1.
    """


class TreeDepthError(TreeStructureError, RecursionError):
    """A pytree is deeper than it can be taken apart, as one that holds itself is.

    Cause: a list or dict that was put into itself, or nesting of thousands of levels. Cure: take
    the container out of itself, or say with ``is_leaf`` which nodes are leaves::

        layers = []
        layers.append(layers)
        tree_leaves(layers)  # TreeDepthError
    """


class TracerError(AxonymError):
    """The base of the errors about using traced values.

    While a transformation traces a function, its arguments are *tracers*: they have a shape, a
    dtype and named axes, but no numbers. The classes below this one tell which use of the missing
    numbers was attempted.
    """


class ConcretizationError(TracerError, TypeError):
    """A traced value was used where its number is needed while tracing.

    Cause: the value of a traced argument decides something that must be known before the program
    runs: a Python branch, a loop count, a shape, a static parameter. Cures: compute it from a
    shape instead of a value; make the argument static; or express the decision in the program with
    ``lax.cond``, ``lax.while_loop``, ``lax.fori_loop`` or ``numpy.where``::

        jit(lambda n: numpy.zeros(n))(3)  # ConcretizationError
        jit(lambda n: numpy.zeros(n), static_argnums=0)(3)  # mended
    """


class TracerBoolConversionError(ConcretizationError):
    """A traced value was used as a truth value, as in ``if``, ``while``, ``and`` or ``assert``.

    Cause: Python asked a tracer whether it is true, and the answer differs from call to call.
    Cure: select with ``numpy.where`` or branch with ``lax.cond``; if the argument takes few
    values, make it static::

        jit(lambda x: x if x > 0 else -x)(1.0)  # TracerBoolConversionError
        jit(lambda x: numpy.where(x > 0, x, -x))(1.0)  # mended
    """


class TracerIntegerConversionError(ConcretizationError):
    """A traced value was used as a Python integer, as in ``range(x)`` or ``a_list[x]``.

    Cause: Python asked a tracer for an index. Cure: make the argument static, loop with
    ``lax.fori_loop``, or index an array instead of a list::

        jit(lambda i: [1.0, 2.0][i])(0)  # TracerIntegerConversionError
        jit(lambda i: numpy.array([1.0, 2.0])[i])(0)  # mended
    """


class TracerArrayConversionError(ConcretizationError):
    """A traced value was handed to NumPy, which needs its numbers.

    Cause: a function of ``numpy`` (or of a library built on it) was called with a tracer. Cure:
    call the function of the same name in ``axonym.numpy``; if the computation must happen in
    NumPy, take it out of the traced function or make the argument static::

        jit(lambda x: np.sin(x))(1.0)  # TracerArrayConversionError, np being NumPy
        jit(lambda x: anp.sin(x))(1.0)  # mended, anp being axonym.numpy
    """


class TracerLeakError(TracerError, TypeError):
    """A traced value was used after the tracing that made it had ended.

    Cause: a function stored a tracer outside of itself, in a global, an attribute or a list, and
    something used it later. The message names the function and the line that made it. Cure:
    return the value instead of storing it::

        seen = []
        jit(lambda x: seen.append(x * 2))(1.0)
        seen[0] + 1  # TracerLeakError
        doubled = jit(lambda x: x * 2)(1.0)
        doubled + 1  # mended
    """


class NonConcreteBooleanIndexError(TracerError, IndexError):
    """An array was indexed with a traced boolean mask, whose result has no fixed shape.

    Cause: ``x[mask]`` has as many elements as the mask has true values, and that number is not
    known while tracing. Cure: keep the shape and select with ``where``, or reduce with
    ``where=``::

        jit(lambda x: x[x > 0].sum())(xs)  # NonConcreteBooleanIndexError
        jit(lambda x: numpy.where(x > 0, x, 0).sum())(xs)  # mended
    """


class IndexingError(AxonymError, IndexError):
    """An index does not fit the array.

    Causes: more indices than dimensions, two ellipses, a static index out of bounds, a mask of
    another size than the dimension, an unknown mode. Cure: compare the index with the array's
    shape, both of which the message shows::

        x = numpy.zeros((3, 4))
        x[0, 0, 0]  # IndexingError: 3 indices for f32[3,4]
        x[5]  # IndexingError: index 5 is out of bounds for dimension 0
    """


class IndexTypeError(IndexingError, TypeError):
    """An index is of a type that does not index.

    Causes: a list where an array or a tuple was meant, a floating-point number or array, a string.
    Cure: convert it, as the message says::

        x[[0, 2]]  # IndexTypeError
        x[numpy.array([0, 2])]  # mended: elements 0 and 2
        x[0, 2]  # mended: the element in row 0 and column 2
    """


class BackendError(AxonymError, RuntimeError):
    """A backend is missing, could not start, lacks an operation, or failed while running.

    Causes: ``AXONYM_BACKEND`` names a backend that is not installed; the device is out of memory;
    the program uses an operation that this backend does not have. Cure: the message lists the
    backends that are installed; ``axonym-xla`` brings the XLA backend, and ``numpy`` is always
    there::

        AXONYM_BACKEND=gpu python train.py  # BackendError: installed are 'numpy' and 'xla'
        AXONYM_BACKEND=numpy python train.py  # mended
    """


class ExportError(BackendError, BufferError):
    """An array cannot be handed to another library in the way that was asked for.

    Causes: the protocol has no such dtype, or the receiver wants the data on another device, or
    without a copy where there must be one. Cure: convert the array first, or pass it through NumPy.
    """


class OutOfMemoryError(BackendError, MemoryError):
    """There is not enough memory for an array or a program.

    Cause: an array, or an intermediate value of a program, is larger than what is free. Cure:
    smaller batches, ``lax.scan`` in place of an unrolled loop, or ``donate_argnums`` to reuse the
    memory of arguments.
    """


class JaxprTypeError(AxonymError, TypeError):
    """A jaxpr is not well formed.

    Cause: a variable is used before it is defined, an equation's outputs do not have the types
    that its primitive's shape rule gives, or an axis is not in scope. Programs traced from Python
    never are; a transformation rule that builds equations by hand may be at fault. Cure: run with
    ``AXONYM_CHECK=1``, which checks after every transformation and so names the first one whose
    result is wrong::

        check_jaxpr(make_jaxpr(f)(x))  # passes, or raises JaxprTypeError
    """


class EffectError(AxonymError, ValueError):
    """An operation with effects would be done more or less often than its program says.

    Cause: a transformation that evaluates all branches of a condition, repeats a loop or drops what
    nobody reads, of a program with an operation that does more than give results. Cure: the
    message names the effect and the transformation; move the operation out of the branch or loop,
    or leave the condition unmapped.
    """


class PrimitiveNameError(AxonymError, ValueError, KeyError):
    """The name of a primitive belongs to another one, or to none.

    Programs are printed and pickled with the names of their primitives. Cause: two modules define
    a primitive of one name, or a program is unpickled before the module that defines its primitives
    was imported. Cure: begin names with that of your package, as in ``mypackage.laplacian``; import
    the module.

    Example:
        >>> from axonym_core.programs.primitive import Primitive
        >>> Primitive("sin", lambda x: x)
        Traceback (most recent call last):
        ...
        axonym_core.errors.PrimitiveNameError: primitive 'sin' is defined in ...
    """

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # a KeyError shows its argument's repr


class RecursiveCallError(AxonymError, RecursionError):
    """A function needs its own compiled program before that exists.

    Cause: while an entry of a cache of compiled functions was made, the same thread asked for
    that very entry, so that making it would never end. Cure: end the recursion with something that
    is known while tracing, such as a static argument that changes, or write a loop with
    ``lax.while_loop`` or ``lax.scan``::

        cache.lookup(f, key, lambda: cache.lookup(f, key, compile_it))  # RecursiveCallError

    A function that calls itself without end while it is traced meets Python's own limit first; that
    is a ``RecursionError``, as this error is.
    """


class InternalError(AxonymError, RuntimeError):
    """Axonym contradicted itself: this is a bug in the library or in a registered rule.

    Cause: an invariant did not hold, for example a rule returned the wrong number of results.
    Cure: if the rule named in the message is your own, mend it; otherwise please report the whole
    message together with the smallest program that shows it.
    """


#: The name under which users of this field know :class:`TracerLeakError`.
UnexpectedTracerError = TracerLeakError

#: The name under which users of this field know :class:`ConcretizationError`.
ConcretizationTypeError = ConcretizationError
