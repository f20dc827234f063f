from __future__ import annotations

import inspect
import pickle

import pytest

from axonym_core import errors

CLASSES = sorted(
    {c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.AxonymError)},
    key=lambda c: c.__name__,
)


@pytest.mark.parametrize("cls", [c for c in CLASSES if c is not errors.AxonymError])
def test_every_error_has_the_base_and_a_docstring_with_cause_and_cure(cls):
    assert issubclass(cls, errors.AxonymError)
    text = inspect.cleandoc(cls.__doc__)
    if cls is not errors.TracerError:  # a base only: its subclasses say it
        assert "Cause" in text
        assert "Cure" in text or "cure" in text


@pytest.mark.parametrize(
    ("cls", "builtins"),
    [
        (errors.ConfigError, [ValueError]),
        (errors.DTypeError, [TypeError]),
        (errors.ShapeError, [ValueError]),
        (errors.AxisNameError, [NameError, ValueError]),
        (errors.TreeStructureError, [ValueError]),
        (errors.ConcretizationError, [TypeError]),
        (errors.TracerBoolConversionError, [TypeError]),
        (errors.TracerIntegerConversionError, [TypeError]),
        (errors.TracerArrayConversionError, [TypeError]),
        (errors.TracerLeakError, [TypeError]),
        (errors.NonConcreteBooleanIndexError, [IndexError]),
        (errors.IndexingError, [IndexError]),
        (errors.BackendError, [RuntimeError]),
        (errors.JaxprTypeError, [TypeError]),
        (errors.RecursiveCallError, [RecursionError]),
        (errors.InternalError, [RuntimeError]),
    ],
)
def test_error_is_caught_by_the_builtin_of_the_same_mistake(cls, builtins):
    for builtin in builtins:
        with pytest.raises(builtin, match="what happened"):
            raise cls("what happened")


def test_errors_about_tracers_share_a_base():
    tracer_errors = {c for c in CLASSES if issubclass(c, errors.TracerError)}
    assert {
        errors.ConcretizationError,
        errors.TracerBoolConversionError,
        errors.TracerIntegerConversionError,
        errors.TracerArrayConversionError,
        errors.TracerLeakError,
        errors.NonConcreteBooleanIndexError,
    } < tracer_errors


def test_conversion_errors_are_concretization_errors():
    for kind in ("Bool", "Integer", "Array"):
        assert issubclass(
            getattr(errors, f"Tracer{kind}ConversionError"), errors.ConcretizationError
        )


def test_names_of_the_field_are_aliases():
    assert errors.UnexpectedTracerError is errors.TracerLeakError
    assert errors.ConcretizationTypeError is errors.ConcretizationError


@pytest.mark.parametrize("cls", CLASSES)
def test_errors_pickle(cls):
    copy = pickle.loads(pickle.dumps(cls("a message")))
    assert type(copy) is cls
    assert str(copy) == "a message"


def test_all_lists_every_class():
    assert set(errors.__all__) == {n for n, v in vars(errors).items() if v in CLASSES}
