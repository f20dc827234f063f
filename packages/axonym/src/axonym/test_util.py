"""For tests: a check of derivatives against differences."""

from __future__ import annotations

from axonym_autodiff.testing import check_grads as check_grads

__all__ = ["check_grads"]
