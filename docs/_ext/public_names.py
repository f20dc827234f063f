"""What Sphinx needs in order to document a family of packages by their public names.

The packages define their names in small modules and show them in one place: `grad` is defined in
`axonym_autodiff.reverse`, documented as `axonym_autodiff.grad`, and re-exported as `axonym.grad`.
Annotations and docstrings name any of the three, or say `ShapeError` alone.

* The directive `.. public-names:: axonym_numpy` documents what is in a module's `__all__`. Options:
  `:grouped:` makes a section for each module in which names are defined, `:names:` documents
  certain names only, and `:table:` makes a table of links instead, for modules that only re-export.
  A second name of a function refers to the first; exceptions are documented where they are defined.
* `resolve` is called for each reference that Sphinx cannot resolve. It finds the object and points
  to the place where that is documented. Names of other projects (Python's, NumPy's) become plain
  text, provided that they exist. What is left is a warning, hence an error.
* `check` warns of every name in the `__all__` of the modules in the setting `public_modules` that
  is documented nowhere.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from docutils.utils import get_source_line
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import PycodeError
from sphinx.ext.autosummary import Autosummary
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

FAMILY = "axonym"
OTHERS = "others"
TYPE_VARIABLES = frozenset({"P", "R", "T"})
PRIVATE = "axonym_xla._"

_log = logging.getLogger(__name__)


def find(path: str) -> Any:
    """Import the object with a dotted path. What a module defines goes before its submodules.

    Raises:
        LookupError: If there is no such object.
    """
    parts = path.split(".")
    tried: list[tuple[Any, list[str]]] = []
    for cut in range(1, len(parts) + 1):
        try:
            tried.append((importlib.import_module(".".join(parts[:cut])), parts[cut:]))
        except ImportError:
            break
    for found, rest in tried or [(builtins, parts)]:
        for part in rest:
            if not hasattr(found, part):
                break
            found = getattr(found, part)
        else:
            return found
    raise LookupError(path)


def is_ours(value: Any) -> bool:
    """Whether a class or function is defined in one of the packages."""
    return str(getattr(value, "__module__", None)).startswith(FAMILY)


def documented_by_itself(value: Any) -> bool:
    """Whether a value has documentation of its own: our classes and functions, not constants."""
    return (isinstance(value, type) or inspect.isroutine(value)) and is_ours(value)


class PublicNames(Autosummary):
    """Directive: the documentation of the public names of a module, or a table of them."""

    has_content = False
    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "grouped": directives.flag,
        "names": directives.unchanged_required,
        "table": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Document the names, or make the table."""
        path = self.arguments[0]
        self.env.ref_context["py:module"] = path
        if "table" in self.options:
            del self.options["table"]
            self.content = StringList(public_names(path, exceptions=True), source=path)
            return super().run()
        names = self.options.get("names", "").split() or public_names(path)
        if "grouped" not in self.options:
            return self.parse_text_to_nodes(_text(path, names))
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(_family(path, name), []).append(name)
        return [self._section(path, family, groups[family]) for family in sorted(groups)]

    def _section(self, path: str, family: str, names: Sequence[str]) -> nodes.section:
        """A section on names of one family, under the first paragraph about its module."""
        section = nodes.section(ids=[nodes.make_id(f"{path}-{family}")])
        section += nodes.title("", family.replace("_", " ").capitalize())
        try:
            doc = inspect.getdoc(importlib.import_module(f"{path}.{family}")) or ""
        except ImportError:
            doc = ""
        section += self.parse_text_to_nodes(doc.partition("\n\n")[0] + "\n\n" + _text(path, names))
        return section


def public_names(path: str, *, exceptions: bool = False) -> list[str]:
    """The names in a module's `__all__`, without modules, second names last.

    Args:
        path: The module.
        exceptions: Whether to list exceptions also outside of the modules that define them.
    """
    module = importlib.import_module(path)

    def wanted(value: Any) -> bool:
        if isinstance(value, type) and issubclass(value, Exception):
            return exceptions or path.endswith(".errors")
        return not isinstance(value, ModuleType)

    names = [n for n in module.__all__ if wanted(getattr(module, n))]
    return sorted(names, key=lambda n: getattr(getattr(module, n), "__name__", n) != n)


def _family(path: str, name: str) -> str:
    """Name of the module in which a public name of a package is defined; `OTHERS` if none."""
    home: str | None = getattr(find(f"{path}.{name}"), "__module__", None)
    ours = home is not None and home.startswith(path.partition(".")[0])
    return home.rpartition(".")[2] if home and ours else OTHERS


def _text(path: str, names: Sequence[str]) -> str:
    """The reStructuredText that documents names of a module."""
    module = importlib.import_module(path)
    outer = importlib.import_module(path.rpartition(".")[0] or path)
    first: dict[int, str] = {}
    text = [f".. py:currentmodule:: {path}", ""]
    for name in names:
        value = getattr(module, name)
        same = name
        if documented_by_itself(value):
            same = first.setdefault(id(value), name)
            if module is not outer and name in getattr(outer, "__all__", ()):
                same = f"{outer.__name__}.{name}"
        text += [*_lines(path, name, value, same), ""]
    return "\n".join(text)


def _lines(module: str, name: str, value: Any, same: str) -> list[str]:
    """The reStructuredText that documents a name; `same` is the first name of the same object."""
    path = f"{module}.{name}"
    if same != name:
        kind = "class" if isinstance(value, type) else "function"
        same = same if "." in same else f"{module}.{same}"
        return [f".. py:{kind}:: {name}", "", f"   Another name of :py:obj:`{same}`."]
    if documented_by_itself(value):
        if not isinstance(value, type):
            return [f".. autofunction:: {path}"]
        if issubclass(value, Exception):
            return [f".. autoexception:: {path}", "   :show-inheritance:"]
        if type(value).__module__.startswith(FAMILY):  # a dtype's name, without parts to show
            return [f".. py:class:: {name}", "", f"   {inspect.getdoc(value)}"]
        return [f".. autoclass:: {path}", "   :members:", "   :special-members: __call__"]
    lines = [f".. py:data:: {name}"]
    home = getattr(value, "__module__", None)
    if isinstance(value, np.dtype):
        return [*lines, "", f"   The dtype `{value.name}`."]
    if isinstance(value, type):
        return [*lines, "", f"   `{home}.{value.__name__}`."]
    comment = _comment(module, name)
    if isinstance(value, float | int | None):
        lines.append(f"   :value: {value}")
    return [*lines, "", *[f"   {line}" for line in comment]]


def _comment(module: str, name: str) -> list[str]:
    """The comment on a variable, in whichever module of the package assigns it."""
    package = module.split(".")[0]
    for candidate in [module, *sorted(m for m in sys.modules if m.startswith(f"{package}."))]:
        try:
            found = ModuleAnalyzer.for_module(candidate).find_attr_docs().get(("", name))
        except PycodeError:  # a module without source
            continue
        if found:
            return list(found)
    return []


Index = dict[str, list[tuple[str, Any, Any]]]


def index_of(env: BuildEnvironment) -> Index:
    """What is documented: by last name, the full name, where, and the object."""
    found: Index | None = getattr(env.app, "documented_names", None)
    if found is None:
        found = {}
        for path, entry in env.domains.python_domain.objects.items():
            try:
                value = find(path)
            except LookupError:
                value = None
            found.setdefault(path.rpartition(".")[2], []).append((path, entry, value))
        env.app.documented_names = found  # type: ignore[attr-defined]  # set by hand
    return found


def package_of(node: pending_xref) -> str | None:
    """The package whose docstring a reference stands in (a method may be another package's)."""
    found = re.search(rf"docstring of ({FAMILY}_?\w*)\.", get_source_line(node)[0] or "")
    return found and found[1]


def candidates(target: str, node: pending_xref) -> Iterator[Any]:
    """Objects that a reference may mean: of its class, module or package, or as written."""
    if node.get("reftype") == "class" and hasattr(builtins, target):
        yield getattr(builtins, target)  # an annotation: `int` is Python's, also beside an `int`
        return
    module, owner = node.get("py:module"), node.get("py:class")
    scopes = []
    if module:
        scopes = [f"{module}.{owner}"] if owner else []
        scopes += [module, f"{package_of(node) or module.split('.')[0]}.errors"]
    for path in [*(f"{scope}.{target}" for scope in scopes), target, f"typing.{target}"]:
        try:
            yield find(path)
        except LookupError:
            continue
    if module and "." not in target:
        package = module.split(".")[0]
        for name in sorted(sys.modules):
            if name.startswith(f"{package}.") and target in vars(sys.modules[name]):
                yield getattr(sys.modules[name], target)  # an alias in an annotation
                return


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.TextElement
) -> nodes.Node | None:
    """Find where the object that a Python reference names is documented."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]

    def link(path: str, entry: Any) -> nodes.Node:
        return make_refnode(
            app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, path
        )

    if PRIVATE in target:
        return contnode  # a class of jaxlib, or one for the sibling packages
    known = index_of(env).get(target.rpartition(".")[2], [])
    for wanted in candidates(target, node):
        everywhere = (item for found in index_of(env).values() for item in found)
        for path, entry, value in itertools.chain(known, everywhere):
            if value is wanted:
                return link(path, entry)
        if not documented_by_itself(wanted) and not isinstance(wanted, ModuleType):
            return contnode
    if target in TYPE_VARIABLES:
        return contnode
    if "." not in target and known:
        # A short name, as in `Raises: ShapeError`. If it may mean several, none is linked.
        path, entry, value = known[0]
        return link(path, entry) if all(v is value for _, _, v in known) else contnode
    return None


def qualify(app: Sphinx, doctree: nodes.document) -> None:
    """Say which exception a docstring means: Sphinx refuses names that several packages have."""
    for node in doctree.findall(pending_xref):
        if node.get("reftype") == "exc" and "." not in node["reftarget"]:
            for wanted in candidates(node["reftarget"], node):
                if is_ours(wanted):
                    node["reftarget"] = f"{wanted.__module__}.{wanted.__qualname__}"
                break


def skip(app: Sphinx, what: str, name: str, value: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out the fields of named tuples, which the class's docstring describes."""
    return True if type(value).__name__ == "_tuplegetter" else None


def check(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of public names that are documented nowhere."""
    documented = index_of(env)
    values = {id(value) for found in documented.values() for _, _, value in found}
    paths = {path for found in documented.values() for path, _, _ in found}
    for module in app.config.public_modules:
        for name in importlib.import_module(module).__all__:
            if f"{module}.{name}" not in paths and id(find(f"{module}.{name}")) not in values:
                _log.warning("%s.%s is public and documented nowhere", module, name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive, the resolver and the check."""
    app.add_config_value("public_modules", [], "env")
    app.add_directive("public-names", PublicNames)
    app.connect("doctree-read", qualify)
    app.connect("missing-reference", resolve)
    app.connect("autodoc-skip-member", skip)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
