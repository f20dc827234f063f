"""Configuration of the site. Built by `nox -s docs`: nitpicky, warnings are errors."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

# Executed pages run on the CPU with the settings that a newcomer has.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

project = "Axonym"
author = "The Axonym authors"
project_copyright = "The Axonym authors"
version = release = installed_version("axonym")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "public_names",  # docs/_ext/public_names.py
]
exclude_patterns = ["_build", "jupyter_execute", "examples"]

html_theme = "furo"
html_title = "Axonym"
default_role = "code"  # single backticks in docstrings are code
nitpicky = True

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autosummary_generate = False
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

# Every name in the `__all__` of these has to be documented.
public_modules = [
    "axonym_core",
    "axonym_core.types.dtypes",
    "axonym_core.errors",
    "axonym_core.lax",
    "axonym_core.tracing.transfers",
    "axonym_core.trees",
    "axonym_autodiff",
    "axonym_autodiff.errors",
    "axonym_autodiff.extend",
    "axonym_autodiff.testing",
    "axonym_mapping",
    "axonym_mapping.errors",
    "axonym_mapping.extend",
    "axonym_compile",
    "axonym_compile.errors",
    "axonym_xla",
    "axonym_xla.errors",
    "axonym_xla.extend",
    "axonym_distributed",
    "axonym_distributed.errors",
    "axonym_numpy",
    "axonym_numpy.errors",
    "axonym_numpy.linalg",
    "axonym_numpy.nn",
    "axonym_numpy.special",
    "axonym_random",
    "axonym_random.errors",
    "axonym_random.initializers",
    "axonym",
    "axonym.core",
    "axonym.dtypes",
    "axonym.errors",
    "axonym.extend",
    "axonym.lax",
    "axonym.nn",
    "axonym.nn.initializers",
    "axonym.numpy",
    "axonym.numpy.linalg",
    "axonym.random",
    "axonym.scipy",
    "axonym.scipy.special",
    "axonym.stages",
    "axonym.test_util",
    "axonym.tree",
    "axonym.tree_util",
]
