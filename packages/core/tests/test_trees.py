from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import pickle
import threading
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axonym_core import trees
from axonym_core.errors import TreeStructureError
from axonym_core.trees import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    Partial,
    SequenceKey,
    keystr,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_transpose,
    tree_unflatten,
)


class Point(NamedTuple):
    x: Any
    y: Any


class Pair:
    """Registered without keys, with static data."""

    def __init__(self, left, right, tag=None):
        self.left, self.right, self.tag = left, right, tag

    def __eq__(self, other):
        return isinstance(other, Pair) and vars(other) == vars(self)

    __hash__ = None


trees.register_pytree_node(
    Pair, lambda p: ((p.left, p.right), p.tag), lambda tag, children: Pair(*children, tag)
)


class Keyed:
    def __init__(self, **items):
        self.items = items

    def __eq__(self, other):
        return isinstance(other, Keyed) and other.items == self.items

    __hash__ = None


def flatten_keyed(node):
    names = tuple(sorted(node.items))
    return tuple((GetAttrKey(name), node.items[name]) for name in names), names


def unflatten_keyed(names, children):
    return Keyed(**dict(zip(names, children, strict=True)))


trees.register_pytree_with_keys(Keyed, flatten_keyed, unflatten_keyed)


class Quick(Keyed):
    """Registered with keys and with a quicker way without them."""


trees.register_pytree_with_keys(
    Quick,
    flatten_keyed,
    lambda names, children: Quick(**dict(zip(names, children, strict=True))),
    lambda node: (tuple(node.items[n] for n in sorted(node.items)), tuple(sorted(node.items))),
)


@trees.register_dataclass
@dataclasses.dataclass
class Layer:
    w: Any
    b: Any
    name: str = dataclasses.field(default="", metadata={"static": True})


@trees.register_static
@dataclasses.dataclass(frozen=True)
class Static:
    value: int


leaves = st.integers() | st.text(max_size=2) | st.floats(allow_nan=False)
nested = st.recursive(
    leaves | st.none(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3).map(collections.deque),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.dictionaries(st.text(max_size=2), inner, max_size=3).map(collections.OrderedDict),
        st.builds(Point, inner, inner),
        st.builds(Pair, inner, inner, st.integers()),
        st.builds(Layer, inner, inner, st.text(max_size=2)),
    ),
    max_leaves=12,
)


@given(nested)
@settings(max_examples=50)
def test_flatten_and_unflatten_are_inverse(tree):
    flat, treedef = tree_flatten(tree)
    rebuilt = tree_unflatten(treedef, flat)
    assert rebuilt == tree
    assert type(rebuilt) is type(tree)
    assert len(flat) == treedef.num_leaves
    assert tree_structure(rebuilt) == treedef
    assert hash(tree_structure(rebuilt)) == hash(treedef)
    assert tree_leaves(tree) == flat


@given(nested)
@settings(max_examples=50)
def test_paths_lead_to_the_leaves(tree):
    pairs, treedef = trees.tree_flatten_with_path(tree)
    assert [leaf for _, leaf in pairs] == tree_leaves(tree)
    assert treedef == tree_structure(tree)
    assert trees.treedef_paths(treedef) == [path for path, _ in pairs]
    for path, leaf in pairs:
        node = tree
        for key in path:
            match key:
                case DictKey(name) | SequenceKey(name):
                    node = node[name]
                case GetAttrKey(name):
                    node = getattr(node, name)
                case FlattenedIndexKey(i):
                    node = (node.left, node.right)[i]
        assert node is leaf or node == leaf


@given(nested)
@settings(max_examples=50)
def test_treedefs_pickle_and_copy(tree):
    treedef = tree_structure(tree)
    for other in (pickle.loads(pickle.dumps(treedef)), copy.deepcopy(treedef)):
        assert other == treedef
        assert hash(other) == hash(treedef)
        assert tree_unflatten(other, tree_leaves(tree)) == tree


@given(nested)
@settings(max_examples=50)
def test_a_structure_differs_from_itself_nowhere_and_is_its_own_prefix(tree):
    treedef = tree_structure(tree)
    assert trees.structure_difference(treedef, treedef) is None
    assert trees.flatten_axes("in_axes", treedef, 7) == [7] * treedef.num_leaves
    full = tree_unflatten(treedef, range(treedef.num_leaves))
    assert trees.flatten_axes("in_axes", treedef, full) == list(range(treedef.num_leaves))
    assert trees.broadcast_prefix(full, tree) == list(range(treedef.num_leaves))


def test_none_is_a_node_without_leaves():
    assert tree_leaves({"a": None, "b": 1}) == [1]
    assert tree_structure(None).num_leaves == 0
    assert tree_map(lambda x: x, None) is None
    assert not trees.treedef_is_leaf(tree_structure(None))


@pytest.mark.parametrize("leaf", [1, "text", np.arange(3), {1, 2}, object(), dict, range(3)])
def test_everything_else_is_a_leaf(leaf):
    found, treedef = tree_flatten(leaf)
    assert found[0] is leaf
    assert trees.treedef_is_leaf(treedef)


def test_subclasses_of_containers_are_leaves():
    class MyDict(dict):
        pass

    assert tree_leaves(MyDict(a=1)) == [{"a": 1}]


def test_dicts_are_flattened_by_sorted_keys_and_rebuilt_in_their_own_order():
    one, other = {"b": 1, "a": 2}, {"a": 2, "b": 1}
    assert tree_leaves(one) == [2, 1]
    assert tree_structure(one) == tree_structure(other)
    assert hash(tree_structure(one)) == hash(tree_structure(other))
    assert list(tree_map(lambda x: x, one)) == ["b", "a"]
    assert tree_leaves(collections.OrderedDict(b=1, a=2)) == [1, 2]
    assert tree_leaves(collections.defaultdict(int, b=1, a=2)) == [2, 1]


def test_dict_keys_of_different_types_are_sorted_by_type_and_others_stay_in_order():
    assert tree_leaves({"a": 1, 2: 3, (4,): 5}) == [3, 1, 5]
    first, second = object(), object()
    assert tree_leaves({first: 1, second: 2}) == [1, 2]
    assert tree_leaves({second: 2, first: 1}) == [2, 1]


def test_is_leaf_stops_at_a_node():
    tree = [(1, 2), {"a": (3, 4)}]

    def is_pair(x):
        return isinstance(x, tuple)

    assert tree_leaves(tree, is_leaf=is_pair) == [(1, 2), (3, 4)]
    assert tree_map(sum, tree, is_leaf=is_pair) == [3, {"a": 7}]
    assert trees.tree_leaves_with_path([None], is_leaf=lambda x: x is None) == [
        ((SequenceKey(0),), None)
    ]
    assert trees.tree_reduce(lambda a, b: a + sum(b), tree, 0, is_leaf=is_pair) == 10
    assert trees.tree_all([0, (0,)], is_leaf=is_pair) is False
    assert trees.all_leaves([(1, 2), 3], is_leaf=is_pair)


def test_tree_map_over_several_trees_takes_subtrees_at_the_leaves_of_the_first():
    result = tree_map(lambda x, y, z: (x, y, z), {"a": 1}, {"a": [2, 3]}, {"a": None})
    assert result == {"a": (1, [2, 3], None)}


def test_tree_map_takes_dicts_of_different_classes_and_orders_together():
    result = tree_map(lambda x, y: x - y, {"a": 1, "b": 2}, collections.OrderedDict(b=20, a=10))
    assert result == {"a": -9, "b": -18}


def test_tree_map_lets_errors_of_the_function_and_of_a_class_pass():
    def fail(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine") as caught:
        tree_map(fail, [1])
    assert not isinstance(caught.value, TreeStructureError)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1, 2], [1, 2, 3], "at the root: tree 1 has a list of length 2, tree 2 has a list of le"),
        ((1, 2), [1, 2], "at the root: tree 1 has a tuple of length 2, tree 2 has a list of leng"),
        ({"a": (1,)}, {"a": 3}, r"at \['a'\]: tree 1 has a tuple of length 1, tree 2 has a leaf"),
        ({"a": {"b": 1}}, {"a": {"c": 1}}, r"at \['a'\]: tree 1 has a dict with keys \['b'\], tr"),
        ([None], [1], r"at \[0\]: tree 1 has None, tree 2 has a leaf"),
        ([[]], [None], r"at \[0\]: tree 1 has a list of length 0, tree 2 has None"),
        (Point([1], 2), Point((1,), 2), r"at \.x: tree 1 has a list of length 1, tree 2 has a tu"),
        ([Point(1, 2)], [(1, 2)], r"at \[0\]: tree 1 has a Point, tree 2 has a tuple of length"),
        (
            [Pair((1,), 2, "left")],
            [Pair((1,), 2, "right")],
            r"at \[0\]: tree 1 has a Pair with static data 'left', tree 2 has a Pair with static "
            "data 'right'",
        ),
        ([Pair((1,), 2)], [Pair([1], 2)], r"at \[0\]\[<flat index 0>\]: tree 1 has a tuple of le"),
        (Layer((1,), 2), Layer([1], 2), r"at \.w: tree 1 has a tuple of length 1, tree 2 has a"),
        (Keyed(a=(1,)), Keyed(a=[1]), r"at \.a: tree 1 has a tuple of length 1, tree 2 has a li"),
        (Keyed(a=1), Keyed(b=1), r"at the root: tree 1 has a Keyed with static data \('a',\), "),
        (
            dict.fromkeys(range(12), 0),
            dict.fromkeys(range(3), 0),
            r"keys \[0, 1, .*, 9, \.\.\.\], tree 2 has a dict with keys \[0, 1, 2\]",
        ),
    ],
)
def test_tree_map_names_the_first_difference_and_both_sides(first, second, message):
    with pytest.raises(TreeStructureError, match=message):
        tree_map(lambda *xs: xs, first, second)
    with pytest.raises(TreeStructureError, match="tree_map_with_path: tree 3 differs from tree 1"):
        trees.tree_map_with_path(lambda *xs: xs, first, first, second)


def test_structures_of_different_mapping_classes_differ_unless_one_is_a_prefix():
    one = tree_structure({"a": 1, "b": (2,)})
    other = tree_structure(collections.OrderedDict(b=(1,), a=2))
    assert trees.structure_difference(one, other).second.startswith("an OrderedDict with keys")
    assert trees.structure_difference(one, other, prefix=True) is None


def test_describe_difference_is_a_sentence_with_the_given_names():
    assert (
        trees.describe_difference(
            tree_structure((1, [2])),
            tree_structure((1, [2, 3])),
            names=("the carry", "the result"),
        )
        == "at [1]: the carry has a list of length 1, the result has a list of length 2"
    )


def test_differences_below_equal_static_data_are_found_without_the_data_s_text():
    class Silent:
        def __repr__(self):
            return "silent"

    one, other = (tree_structure([Pair(1, 2, Silent())]) for _ in range(2))
    difference = trees.structure_difference(one, other)
    assert difference.path == (SequenceKey(0),)


def test_unflatten_with_the_wrong_number_of_leaves_names_both_numbers():
    treedef = tree_structure([1, (2, 3)])
    for wrong in ([1, 2], [1, 2, 3, 4], iter([1])):
        with pytest.raises(TreeStructureError, match=r"treedef has 3 leaves, but [124] were given"):
            tree_unflatten(treedef, wrong)
    assert tree_unflatten(treedef, iter("abc")) == ["a", ("b", "c")]


def test_unflatten_with_swapped_arguments_says_so():
    with pytest.raises(TreeStructureError, match=r"The order of the arguments is \(treedef, leav"):
        tree_unflatten([1, 2], (3,))


def test_errors_of_a_class_that_is_put_together_pass_through_unflatten():
    class Strict:
        def __init__(self, x):
            if x == 0:
                raise ValueError("x must not be 0")

    trees.register_pytree_node(Strict, lambda s: ((1,), None), lambda _, c: Strict(*c))
    treedef = tree_structure(Strict(1))
    with pytest.raises(ValueError, match="x must not be 0"):
        tree_unflatten(treedef, [0])


def test_reduce_and_all():
    assert trees.tree_reduce(lambda a, b: a + b, {"a": 1, "b": [2, 3]}) == 6
    assert trees.tree_reduce(lambda a, b: a + b, [], 5) == 5
    assert trees.tree_reduce(lambda a, b: a, [1], None) is None
    with pytest.raises(TreeStructureError, match=r"tree=\[None\] has no leaves. Give an init"):
        trees.tree_reduce(lambda a, b: a + b, [None])
    assert trees.tree_all([])
    assert not trees.tree_all([1, (0,)])


def test_transpose_turns_trees_inside_out():
    outer, inner = tree_structure([0, 0, 0]), tree_structure({"a": 0, "b": (0,)})
    tree = [{"a": i, "b": (-i,)} for i in range(3)]
    expected = {"a": [0, 1, 2], "b": ([0, -1, -2],)}
    assert trees.tree_transpose(outer, inner, tree) == expected
    assert trees.tree_transpose(outer, None, tree) == expected
    assert trees.tree_transpose(inner, outer, expected) == tree


def test_transpose_of_an_empty_outer_tree_is_empty_everywhere():
    inner = tree_structure({"a": 0, "b": 0})
    assert trees.tree_transpose(tree_structure([]), inner, []) == {"a": [], "b": []}
    with pytest.raises(TreeStructureError, match="Give inner_treedef"):
        trees.tree_transpose(tree_structure([]), None, [])


def test_transpose_names_what_does_not_fit():
    outer = tree_structure([0, 0])
    with pytest.raises(
        TreeStructureError, match=r"the tree at \[1\] differs from inner_treedef at the root"
    ):
        trees.tree_transpose(outer, None, [(1, 2), (1,)])
    with pytest.raises(TreeStructureError, match="outer_treedef is not a prefix of the tree at th"):
        trees.tree_transpose(outer, None, [(1, 2)])


def test_broadcast_expands_a_prefix():
    full = {"a": (1, 2), "b": [3, {"c": 4}]}
    assert trees.broadcast_prefix({"a": "x", "b": "y"}, full) == ["x", "x", "y", "y"]
    assert trees.tree_broadcast(0, full) == {"a": (0, 0), "b": [0, {"c": 0}]}
    assert trees.broadcast_prefix(
        [(1, 2), 3], [0, [0, 0]], is_leaf=lambda x: isinstance(x, tuple)
    ) == [(1, 2), 3, 3]
    with pytest.raises(TreeStructureError, match="broadcast_prefix: tree 2 differs from tree 1 at"):
        trees.broadcast_prefix({"a": 1}, full)


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        (None, [None] * 4),
        (0, [0] * 4),
        ((0, None, {"c": 1}), [0, 0, None, 1]),
        (({"w": 0, "b": None}, 1, None), [None, 0, 1, None]),
        ((0, (1,), 2), [0, 0, 1, 2]),
    ],
)
def test_flatten_axes_expands_a_prefix_in_which_none_is_a_value(axes, expected):
    treedef = tree_structure(({"w": 1, "b": 2}, (3,), {"c": 4}))
    assert trees.flatten_axes("in_axes", treedef, axes) == expected


def test_flatten_axes_over_an_empty_tree_or_none_gives_nothing():
    assert trees.flatten_axes("in_axes", tree_structure(((), None)), (0, 0)) == []
    assert trees.flatten_axes("in_axes", tree_structure((None, 1)), (None, 1)) == [1]


def test_flatten_axes_stops_at_is_leaf():
    treedef = tree_structure(([1, 2], 3))
    axes = ({0: "batch"}, ["batch", ...])
    assert trees.flatten_axes(
        "in_axes", treedef, axes, is_leaf=lambda x: isinstance(x, dict | list)
    ) == [{0: "batch"}, {0: "batch"}, ["batch", ...]]


def test_flatten_axes_reaches_into_registered_classes():
    treedef = tree_structure(Layer((1, 2), 3, "hidden"))
    assert trees.flatten_axes("in_axes", treedef, Layer(0, None)) == [0, 0, None]


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ((0, 1), "in_axes is a tuple of length 2, but the argument there is a tuple of length 3"),
        ([0, 1, 2], "in_axes is a list of length 3, but the argument there is a tuple of length"),
        ((0, 1, (2,)), r"in_axes\[2\] is a tuple of length 1, but the argument there is a leaf"),
        (({"w": 0}, 1, 2), r"in_axes\[0\] is a dict with keys \['w'\], but the argument there i"),
        ((0, {"a": [1]}, 2), r"in_axes\[1\] is a dict with keys \['a'\], but the argument there"),
    ],
)
def test_flatten_axes_names_the_argument_and_the_path(axes, message):
    treedef = tree_structure(({"w": 1, "b": 2}, (3,), 4))
    with pytest.raises(TreeStructureError, match=message):
        trees.flatten_axes("in_axes", treedef, axes)
    with pytest.raises(TreeStructureError, match=r"^out_axes.* but the result there is"):
        trees.flatten_axes("out_axes", treedef, axes, of="result")


# --- keys


def test_keys_print_as_one_would_type_them():
    path = (DictKey("a"), SequenceKey(1), GetAttrKey("w"), FlattenedIndexKey(0), DictKey(2))
    assert keystr(path) == "['a'][1].w[<flat index 0>][2]"
    assert keystr(path, simple=True, separator="/") == "a/1/w/0/2"
    assert keystr(()) == ""
    assert repr(path[0]) == "DictKey(key='a')"
    assert repr(path[1]) == "SequenceKey(idx=1)"
    assert (path[0].key, path[1].idx, path[2].name, path[3].key) == ("a", 1, "w", 0)


def test_keys_compare_and_hash_by_kind_and_value():
    assert DictKey(0) == DictKey(0)
    assert DictKey(0) != SequenceKey(0)
    assert len({DictKey(0), DictKey(0), SequenceKey(0), FlattenedIndexKey(0)}) == 3
    assert pickle.loads(pickle.dumps(GetAttrKey("w"))) == GetAttrKey("w")


def test_map_with_path_gives_the_path_first():
    tree = {"a": [1, Quick(b=2)], "p": Point(3, None)}
    seen = trees.tree_map_with_path(lambda p, x, y: (keystr(p), x + y), tree, tree)
    assert seen["a"] == [("['a'][0]", 2), Quick(b=("['a'][1].b", 4))]
    assert seen["p"].x == ("['p'].x", 6)


# --- registration


def test_registered_classes_are_nodes_with_keys():
    tree = (Pair(1, 2), Keyed(b=3, a=4), Quick(c=5), Layer(6, 7, "x"), Static(8))
    assert [(keystr(path), leaf) for path, leaf in trees.tree_leaves_with_path(tree)] == [
        ("[0][<flat index 0>]", 1),
        ("[0][<flat index 1>]", 2),
        ("[1].a", 4),
        ("[1].b", 3),
        ("[2].c", 5),
        ("[3].w", 6),
        ("[3].b", 7),
    ]
    assert tree_map(lambda x: -x, tree)[3] == Layer(-6, -7, "x")
    assert tree_map(lambda x: -x, tree)[4] == Static(8)


def test_static_data_is_part_of_the_structure():
    assert tree_structure(Layer(1, 2, "x")) == tree_structure(Layer(3, 4, "x"))
    assert tree_structure(Layer(1, 2, "x")) != tree_structure(Layer(1, 2, "y"))
    assert tree_structure(Static(1)) == tree_structure(Static(1))
    assert tree_structure(Static(1)) != tree_structure(Static(2))


def test_dataclass_with_explicit_fields_and_dropped_ones():
    @functools.partial(
        trees.register_dataclass,
        data_fields=["x"],
        meta_fields=["unit"],
        drop_fields=["cached"],
    )
    @dataclasses.dataclass(frozen=True)
    class Quantity:
        x: Any
        unit: str
        cached: Any = None

    mapped = tree_map(lambda x: 2 * x, Quantity(1.5, "m", cached="old"))
    assert mapped == Quantity(3.0, "m")
    assert trees.treedef_paths(tree_structure(mapped)) == [(GetAttrKey("x"),)]


def test_dataclass_fields_that_the_constructor_does_not_take_are_left_out():
    @trees.register_dataclass
    @dataclasses.dataclass
    class Doubled:
        x: Any
        twice: Any = dataclasses.field(init=False)

        def __post_init__(self):
            self.twice = 2 * self.x

    assert tree_map(lambda x: x + 1, Doubled(1)).twice == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data_fields": ["x"]}, "data_fields and meta_fields must be given together"),
        ({"data_fields": ["x"], "meta_fields": []}, r"the fields are \['x', 'y'\]"),
        ({"data_fields": ["x", "y"], "meta_fields": ["y"]}, "must name every field .* once"),
        ({"data_fields": ["x", "z"], "meta_fields": ["y"]}, r"data_fields=\['x', 'z'\]"),
    ],
)
def test_bad_dataclass_registrations_are_errors(arguments, message):
    @dataclasses.dataclass
    class XY:
        x: Any
        y: Any

    with pytest.raises(TreeStructureError, match=message):
        trees.register_dataclass(XY, **arguments)
    assert tree_leaves(XY(1, 2)) == [XY(1, 2)]


def test_a_class_that_is_no_dataclass_needs_its_fields():
    class Plain:
        def __init__(self, x):
            self.x = x

    with pytest.raises(TreeStructureError, match=r"Plain.*is no dataclass"):
        trees.register_dataclass(Plain)
    trees.register_dataclass(Plain, data_fields=["x"], meta_fields=[])
    assert tree_leaves(Plain((1, 2))) == [1, 2]


def test_class_decorators_use_the_methods():
    @trees.register_pytree_node_class
    class Box:
        def __init__(self, item):
            self.item = item

        def tree_flatten(self):
            return (self.item,), "static"

        @classmethod
        def tree_unflatten(cls, static, children):
            assert static == "static"
            return cls(*children)

    @trees.register_pytree_with_keys_class
    class Named(Box):
        def tree_flatten_with_keys(self):
            return ((GetAttrKey("item"), self.item),), "static"

    assert tree_map(lambda x: x + 1, Box(1)).item == 2
    assert type(tree_map(lambda x: x, Named(1))) is Named
    assert keystr(trees.tree_leaves_with_path(Named(1))[0][0]) == ".item"


def test_class_decorators_name_missing_methods():
    class Empty:
        pass

    with pytest.raises(TreeStructureError, match=r"Empty.* lacks tree_flatten and tree_unflatten"):
        trees.register_pytree_node_class(Empty)
    with pytest.raises(TreeStructureError, match=r"Empty.* lacks tree_flatten_with_keys and tree"):
        trees.register_pytree_with_keys_class(Empty)


@pytest.mark.parametrize("bad", [Pair, dict, tuple, None, 3])
def test_what_cannot_be_registered_is_an_error(bad):
    with pytest.raises(TreeStructureError, match=r"nodetype=.* cannot be registered"):
        trees.register_pytree_node(bad, lambda x: ((), None), lambda _, __: None)


def test_registrations_stay_in_our_namespace():
    import optree

    assert optree.tree_leaves(Pair(1, 2)) == [Pair(1, 2)]


# --- Partial


def test_partial_is_a_node_whose_function_is_static():
    def add(a, b, c=0):
        return a + b + c

    bound = Partial(add, 1, c=2)
    assert bound(10) == 13
    assert tree_leaves(bound) == [1, 2]
    assert tree_map(lambda x: 10 * x, bound)(1) == 31
    assert tree_structure(bound) == tree_structure(Partial(add, 5, c=6))
    assert tree_structure(bound) != tree_structure(Partial(max, 5, c=6))


def test_partial_of_partial_adds_arguments_and_of_a_functools_partial_keeps_it_whole():
    assert tree_leaves(Partial(Partial(max, 1), 2)) == [1, 2]
    whole = functools.partial(max, 1)
    assert tree_leaves(Partial(whole, 2)) == [2]
    assert Partial(whole, 2)() == 2
    assert tree_structure(Partial(whole, 2)) == tree_structure(Partial(whole, 3))


def test_partials_pickle():
    copied = pickle.loads(pickle.dumps(Partial(max, 1, 2)))
    assert type(copied) is Partial
    assert copied() == 2


# --- treedefs


def test_treedef_functions():
    tree = (1, [2, None], {"a": 3})
    treedef = tree_structure(tree)
    children = trees.treedef_children(treedef)
    assert children == [tree_structure(x) for x in tree]
    assert trees.treedef_tuple(children) == treedef
    assert trees.treedef_tuple([]) == tree_structure(())
    assert [trees.treedef_is_leaf(child) for child in children] == [True, False, False]
    assert isinstance(treedef, trees.PyTreeDef)


def test_trees_are_flattened_by_many_threads_at_once():
    tree = {"a": [Pair(1, (2, 3))] * 20, "b": Layer(4, 5)}
    expected = tree_flatten(tree)
    failures = []

    def work():
        for _ in range(200):
            if tree_flatten(tree) != expected:
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_trees_that_hold_themselves_are_refused_by_an_error_of_the_library() -> None:
    itself: list[Any] = []
    itself.append(itself)
    for call in (tree_leaves, tree_structure, tree_flatten, lambda t: tree_map(lambda x: x, t)):
        with pytest.raises(RecursionError, match="hold itself") as raised:
            call(itself)
        assert isinstance(raised.value, TreeStructureError)


def test_what_is_no_structure_or_no_sequence_is_refused_by_name() -> None:
    structure = tree_structure((1, 2))
    with pytest.raises(TypeError, match="leaves must be a sequence"):
        tree_unflatten(structure, 5)
    for outer, inner in ((1, structure), (structure, 2), (None, None)):
        with pytest.raises(TreeStructureError, match="must be a structure"):
            tree_transpose(outer, inner, (1, 2))
