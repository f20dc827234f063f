"""The names of the umbrella: where they are, that all are there, and that they are documented."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import axonym as ax
import axonym_core
import axonym_numpy
from axonym_core.errors import AxonymError

SUBMODULES = [
    info.name for info in pkgutil.walk_packages(ax.__path__, "axonym.") if "._" not in info.name
]
LAZY = ["axonym", "axonym.errors", "axonym.extend"]

# Paths at which users of this field look for these names.
KNOWN_PATHS = """
Array ShapeDtypeStruct block_until_ready config custom_jvp custom_vjp device_count device_get
device_put devices eval_shape grad host_count host_id host_ids jit jvp linear_transpose linearize
local_device_count local_devices make_jaxpr process_count process_index process_indices
value_and_grad vjp vmap

lax.add lax.argmax lax.axis_index lax.axis_size lax.broadcast_in_dim lax.clamp lax.cond lax.conv
lax.conv_general_dilated lax.convert_element_type lax.cumsum lax.dot lax.dot_general
lax.dynamic_slice lax.dynamic_update_slice lax.erf lax.exp lax.fori_loop lax.gather lax.iota
lax.log lax.logistic lax.map lax.max lax.pad lax.pmax lax.pmean lax.pmin lax.psum lax.reduce_sum
lax.reshape lax.rsqrt lax.scan lax.scatter_add lax.select lax.select_n lax.sin lax.slice lax.sort
lax.squeeze lax.stop_gradient lax.switch lax.tanh lax.top_k lax.transpose lax.while_loop
lax.Precision lax.GatherDimensionNumbers lax.ScatterDimensionNumbers lax.ConvDimensionNumbers

numpy.abs numpy.arange numpy.argmax numpy.array numpy.asarray numpy.bfloat16 numpy.bool_
numpy.broadcast_to numpy.clip numpy.concatenate numpy.cumsum numpy.dot numpy.einsum numpy.exp
numpy.expand_dims numpy.eye numpy.finfo numpy.float32 numpy.full numpy.inf numpy.int32
numpy.linalg.norm numpy.linspace numpy.log numpy.matmul numpy.max numpy.maximum numpy.mean
numpy.nan numpy.newaxis numpy.ones numpy.pi numpy.prod numpy.reshape numpy.result_type numpy.sin
numpy.split numpy.sqrt numpy.squeeze numpy.stack numpy.std numpy.sum numpy.take
numpy.take_along_axis numpy.tanh numpy.tensordot numpy.transpose numpy.tril numpy.triu numpy.var
numpy.where numpy.zeros numpy.zeros_like

nn.elu nn.gelu nn.leaky_relu nn.log_softmax nn.logsumexp nn.one_hot nn.relu nn.sigmoid nn.silu
nn.softmax nn.softplus nn.swish nn.tanh nn.initializers.glorot_normal
nn.initializers.glorot_uniform nn.initializers.he_normal nn.initializers.he_uniform
nn.initializers.lecun_normal nn.initializers.normal nn.initializers.ones nn.initializers.uniform
nn.initializers.variance_scaling nn.initializers.xavier_uniform nn.initializers.zeros

random.PRNGKey random.bernoulli random.bits random.categorical random.choice random.clone
random.exponential random.fold_in random.gumbel random.key random.key_data random.key_impl
random.laplace random.logistic random.normal random.permutation random.rademacher random.randint
random.split random.truncated_normal random.uniform random.wrap_key_data

tree.all tree.flatten tree.flatten_with_path tree.leaves tree.leaves_with_path tree.map
tree.map_with_path tree.reduce tree.structure tree.transpose tree.unflatten

tree_util.DictKey tree_util.GetAttrKey tree_util.Partial tree_util.PyTreeDef tree_util.SequenceKey
tree_util.all_leaves tree_util.keystr tree_util.register_dataclass tree_util.register_pytree_node
tree_util.register_pytree_node_class tree_util.register_pytree_with_keys tree_util.register_static
tree_util.tree_all tree_util.tree_flatten tree_util.tree_flatten_with_path tree_util.tree_leaves
tree_util.tree_leaves_with_path tree_util.tree_map tree_util.tree_map_with_path
tree_util.tree_reduce tree_util.tree_structure tree_util.tree_transpose tree_util.tree_unflatten

dtypes.bfloat16 dtypes.finfo dtypes.float0 dtypes.iinfo dtypes.issubdtype dtypes.prng_key
dtypes.result_type

core.Jaxpr core.JaxprEqn core.Literal core.Primitive core.ShapedArray core.Tracer core.Var
core.check_jaxpr core.eval_jaxpr

errors.ConcretizationTypeError errors.NonConcreteBooleanIndexError
errors.TracerArrayConversionError errors.TracerBoolConversionError
errors.TracerIntegerConversionError errors.UnexpectedTracerError

scipy.special.digamma scipy.special.entr scipy.special.erf scipy.special.erfc scipy.special.erfinv
scipy.special.expit scipy.special.gammaln scipy.special.logit scipy.special.logsumexp
scipy.special.polygamma scipy.special.xlog1py scipy.special.xlogy

stages.Compiled stages.Lowered stages.Traced

test_util.check_grads
"""


def find(path: str) -> Any:
    found: Any = ax
    for part in path.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("path", KNOWN_PATHS.split())
def test_known_names_are_where_they_are_known_to_be(path: str) -> None:
    find(path)


@pytest.mark.parametrize("module", ["axonym", *SUBMODULES])
def test_every_public_name_is_there(module: str) -> None:
    loaded = importlib.import_module(module)
    for name in loaded.__all__:
        getattr(loaded, name)
    assert set(loaded.__all__) <= set(dir(loaded))
    assert len(set(loaded.__all__)) == len(loaded.__all__)


@pytest.mark.parametrize("module", ["axonym", *SUBMODULES])
def test_every_public_function_and_class_is_documented(module: str) -> None:
    loaded = importlib.import_module(module)
    assert loaded.__doc__
    bare = [
        name
        for name in loaded.__all__
        if (inspect.isroutine(x := getattr(loaded, name)) or inspect.isclass(x))
        and not inspect.getdoc(x)
    ]
    assert bare == []


def test_every_submodule_is_public() -> None:
    top = {name.removeprefix("axonym.").split(".")[0] for name in SUBMODULES}
    assert top == {n for n in ax.__all__ if isinstance(getattr(ax, n), ModuleType)}


@pytest.mark.parametrize("module", LAZY)
def test_python_and_type_checkers_are_told_the_same(module: str) -> None:
    loaded = importlib.import_module(module)
    tree = ast.parse(Path(loaded.__file__ or "").read_text("utf-8"))
    guard = next(node for node in tree.body if isinstance(node, ast.If))
    stated = {
        (alias.asname, node.module or f"{module}.{alias.name}")
        for node in guard.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if node.level == 0
    }
    homes = {(n, home) for home, names in loaded._HOMES.items() for n in names.split()}

    assert stated == homes
    submodules = set(getattr(loaded, "_SUBMODULES", ()))
    assert {n for n, _ in homes} | submodules == set(loaded.__all__)


def test_names_that_do_not_exist_are_refused() -> None:
    for module in LAZY:
        loaded = importlib.import_module(module)
        with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'nothing'"):
            _ = loaded.nothing


def test_submodules_are_imported_in_every_way() -> None:
    import axonym.numpy as anp
    import axonym.numpy.linalg
    from axonym import lax, tree_util
    from axonym.nn import initializers

    assert anp is ax.numpy
    assert anp.linalg is axonym.numpy.linalg
    assert lax is ax.lax
    assert tree_util is ax.tree_util
    assert initializers is ax.nn.initializers


def test_nothing_is_defined_here() -> None:
    assert ax.grad.__module__.startswith("axonym_autodiff")
    assert ax.tree.map is axonym_core.trees.tree_map
    assert ax.numpy.sin is axonym_numpy.sin
    assert ax.config is axonym_core.config
    assert ax.Array is axonym_core.Array


def test_everything_of_lax_is_here() -> None:
    theirs = {
        name
        for name, value in vars(axonym_core.lax).items()
        if not name.startswith("_") and callable(value)
    }
    assert theirs <= set(ax.lax.__all__)
    assert not any(isinstance(getattr(ax.lax, n), ModuleType) for n in ax.lax.__all__)


def test_every_exception_has_one_base() -> None:
    for name in ax.errors.__all__:
        assert issubclass(getattr(ax.errors, name), AxonymError)


def test_every_exception_of_the_packages_is_here() -> None:
    found = set()
    for package in [
        "core",
        "autodiff",
        "mapping",
        "compile",
        "xla",
        "distributed",
        "numpy",
        "random",
    ]:
        found |= set(importlib.import_module(f"axonym_{package}.errors").__all__)
    assert found - set(ax.errors.__all__) == {"ArgumentError"}


def test_functions_are_pickled_by_name() -> None:
    for path in ("grad", "tree.map", "lax.add", "errors.ShapeError", "core.ShapedArray"):
        assert pickle.loads(pickle.dumps(find(path))) is find(path)
