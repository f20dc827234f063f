"""Two small things that Sphinx needs in order to document a family of packages.

The packages define their names in small modules and show them in one place: `grad` is defined in
`axonym_autodiff.grad`, documented as `axonym_autodiff.grad`, and re-exported as `axonym.grad`.
Annotations and docstrings name any of the three.

* `resolve` is called for each cross-reference that Sphinx cannot resolve. It imports what the
  reference names and points to the place where that object is documented. Names of other
  projects (Python's, NumPy's) become plain text, provided that they exist. What is left is a
  warning, hence an error.
* The directive `.. public-names:: axonym` makes an autosummary table of a module's `__all__`, for
  modules that only re-export.
"""

from __future__ import annotations

import builtins
import importlib
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.autosummary import Autosummary
from sphinx.util.nodes import make_refnode


def find(path: str) -> Any:
    """Import the object with a dotted path.

    Raises:
        LookupError: If there is no such object.
    """
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        rest = parts[cut:]
        break
    else:
        found, rest = builtins, parts
    for part in rest:
        if not hasattr(found, part):
            raise LookupError(path)
        found = getattr(found, part)
    return found


def candidates(target: str, node: pending_xref) -> list[str]:
    """Dotted paths that a reference may mean: inside its class and module, and as written."""
    if node.get("reftype") == "class" and hasattr(builtins, target):
        return [target]  # an annotation: `int` is Python's, also in a module with an `int`
    module, owner = node.get("py:module"), node.get("py:class")
    scopes = [scope for scope in (module and owner and f"{module}.{owner}", module) if scope]
    return [*(f"{scope}.{target}" for scope in scopes), target, f"typing.{target}"]


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.TextElement
) -> nodes.Node | None:
    """Find where the object that a Python reference names is documented."""
    if node.get("refdomain") != "py":
        return None
    for path in candidates(node["reftarget"], node):
        try:
            wanted = find(path)
        except LookupError:
            continue
        objects = env.domains.python_domain.objects
        name = path.rpartition(".")[2]
        for documented, entry in objects.items():
            if documented.rpartition(".")[2] == name and _is(documented, wanted):
                return make_refnode(
                    app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, documented
                )
        home = getattr(wanted, "__module__", None) or path
        if not home.startswith("axonym"):
            return contnode
    return None


def _is(path: str, wanted: Any) -> bool:
    try:
        return find(path) is wanted
    except LookupError:
        return False


class PublicNames(Autosummary):
    """Directive: a table of everything in a module's `__all__`."""

    has_content = False
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Fill the table with the module's public names, in the order of `__all__`."""
        name = self.arguments[0]
        self.env.ref_context["py:module"] = name
        self.content = StringList(importlib.import_module(name).__all__, source=name)
        return super().run()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the resolver and the directive."""
    app.connect("missing-reference", resolve)
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
