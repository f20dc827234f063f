"""Permutations and samples of arrays."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import axonym_random as random
from axonym_compile import jit
from axonym_core.arrays import as_concrete
from axonym_core.errors import ConcretizationError
from axonym_random.errors import DistributionError, RandomDTypeError, RandomShapeError

CUBE = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 3000])
def test_a_permutation_of_a_number_holds_each_below_it_once(n: int) -> None:
    drawn = random.permutation(random.key(0), n)
    assert drawn.dtype == np.int32
    assert sorted(drawn.tolist()) == list(range(n))


def test_permutations_are_equally_likely() -> None:
    n = 1200
    keys = random.split(random.key(0), n)
    counts = dict.fromkeys(permutations(range(3)), 0)
    for i in range(n):
        counts[tuple(random.permutation(keys[i], 3).tolist())] += 1
    deviations = [(c - n / 6) ** 2 / (n / 6) for c in counts.values()]
    assert sum(deviations) < 20.5  # 5 degrees of freedom, 1 in 1000


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_an_array_is_moved_as_a_whole(axis: int) -> None:
    drawn = np.asarray(random.permutation(random.key(3), CUBE, axis))

    rows = [np.take(CUBE, i, axis).tolist() for i in range(CUBE.shape[axis])]
    moved = [np.take(drawn, i, axis).tolist() for i in range(CUBE.shape[axis])]
    assert sorted(moved) == sorted(rows)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_slices_may_be_permuted_independently(axis: int) -> None:
    x = np.arange(600).reshape(10, 6, 10)
    drawn = np.asarray(random.permutation(random.key(3), x, axis, independent=True))

    assert (np.sort(drawn, axis) == np.sort(x, axis)).all()
    order = np.argsort(np.moveaxis(drawn, axis, 0).reshape(x.shape[axis], -1), 0)
    assert len({tuple(column) for column in order.T.tolist()}) > 1


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float64", "complex64"])
def test_arrays_of_every_dtype_are_permuted(dtype: str) -> None:
    x = np.arange(10).astype(dtype)
    drawn = np.asarray(random.permutation(random.key(0), x))
    assert drawn.dtype == x.dtype
    assert sorted(drawn.tolist(), key=abs) == sorted(x.tolist(), key=abs)


def test_known_permutation() -> None:
    assert random.permutation(random.key(0), 10).tolist() == [0, 1, 8, 5, 6, 4, 3, 2, 7, 9]


def test_permutations_are_compiled() -> None:
    eager = random.permutation(random.key(0), CUBE, 1)
    compiled = jit(lambda k, x: random.permutation(k, x, 1))(random.key(0), CUBE)
    assert compiled.tolist() == eager.tolist()


def test_negative_strides_and_empty_arrays_are_permuted() -> None:
    assert sorted(random.permutation(random.key(0), np.arange(5)[::-1]).tolist()) == list(range(5))
    assert random.permutation(random.key(0), np.zeros((0, 3))).shape == (0, 3)
    assert random.permutation(random.key(0), np.zeros((3, 0)), independent=True).shape == (3, 0)


def test_what_cannot_be_permuted_is_refused() -> None:
    key = random.key(0)
    with pytest.raises(RandomDTypeError, match=r"permutation: x is of type .* integer"):
        random.permutation(key, 1.5)
    with pytest.raises(RandomShapeError, match="permutation: x=-1 is negative"):
        random.permutation(key, -1)
    with pytest.raises(RandomShapeError, match="axis=3 is not a dimension of x"):
        random.permutation(key, CUBE, 3)
    with pytest.raises(ConcretizationError):
        jit(lambda n: random.permutation(key, n))(3)


@pytest.mark.parametrize("p", [None, [0.2, 0.0, 0.3, 0.5]], ids=["uniform", "weighted"])
def test_draws_come_with_their_probabilities(p: list[float] | None) -> None:
    n = 20000
    weights = None if p is None else np.float32(p)
    counts = np.bincount(np.asarray(random.choice(random.key(0), 4, (n,), p=weights)), minlength=4)
    expected = n * np.array(p or [0.25] * 4)
    likely = expected > 0

    assert (counts[~likely] == 0).all()
    deviations = (counts[likely] - expected[likely]) ** 2 / expected[likely]
    assert deviations.sum() < 16.3  # 3 degrees of freedom, 1 in 1000


def test_probabilities_need_not_sum_to_1() -> None:
    p = np.float32([1, 2, 3])
    drawn = random.choice(random.key(0), 3, (50,), p=p).tolist()
    assert random.choice(random.key(0), 3, (50,), p=p * 4).tolist() == drawn


def test_elements_of_probability_0_are_not_drawn_at_the_ends() -> None:
    p = np.float32([0, 0, 1, 0, 1, 0, 0])
    for n in range(20):
        drawn = random.choice(random.key(n), 7, (500,), p=p)
        assert set(drawn.tolist()) == {2, 4}


@pytest.mark.parametrize("p", [None, [1, 2, 3, 4, 5, 6]], ids=["uniform", "weighted"])
def test_draws_without_replacement_are_distinct(p: list[float] | None) -> None:
    weights = None if p is None else np.float32(p)
    for n in range(7):
        drawn = random.choice(random.key(n), 6, (n,), replace=False, p=weights)
        assert len(set(drawn.tolist())) == n
    assert random.choice(random.key(0), 6, (2, 3), replace=False, p=weights).shape == (2, 3)


def test_the_first_weighted_draw_without_replacement_has_the_given_probability() -> None:
    p = np.float32([0.1, 0.2, 0.7])
    n = 2000
    keys = random.split(random.key(1), n)
    draw = jit(lambda k: random.choice(k, 3, (1,), replace=False, p=p))
    counts = np.bincount([int(draw(keys[i])[0]) for i in range(n)], minlength=3)
    assert ((counts - n * p) ** 2 / (n * p)).sum() < 13.8  # 2 degrees of freedom, 1 in 1000


@pytest.mark.parametrize("axis", [0, 1, 2, -2])
@pytest.mark.parametrize("replace", [True, False])
def test_slices_of_an_array_are_drawn_along_an_axis(axis: int, replace: bool) -> None:
    drawn = np.asarray(random.choice(random.key(0), CUBE, (2, 1), replace, axis=axis))

    positive = axis % 3
    assert drawn.shape == (*CUBE.shape[:positive], 2, 1, *CUBE.shape[positive + 1 :])
    slices = [np.take(CUBE, i, axis).tolist() for i in range(CUBE.shape[axis])]
    for i in range(2):
        assert drawn.take(0, positive + 1).take(i, positive).tolist() in slices


def test_nothing_can_be_drawn() -> None:
    key = random.key(0)
    assert random.choice(key, 5, (0,)).shape == (0,)
    assert random.choice(key, 0, (0,)).shape == (0,)
    assert random.choice(key, 5, (0, 2), p=np.ones(5, np.float32)).shape == (0, 2)
    assert random.choice(key, np.zeros((0, 3)), (0,)).shape == (0, 3)
    assert random.choice(key, 5).shape == ()


def test_draws_that_cannot_be_are_refused() -> None:
    key = random.key(0)
    with pytest.raises(DistributionError, match="a has no elements to draw"):
        random.choice(key, 0, (2,))
    with pytest.raises(DistributionError, match="7 of 5 elements without replacement"):
        random.choice(key, 5, (7,), replace=False)
    few = np.array([0, 1, 0, 2], np.float32)
    for replace, shape, p in ((False, (3,), few), (True, (2,), few * 0), (False, (), few * 0)):
        for known in (p, as_concrete(p)):
            with pytest.raises(DistributionError, match="of the 4 probabilities p are positive"):
                random.choice(key, 4, shape, replace, known)
    assert set(random.choice(key, 4, (2,), False, few).tolist()) == {1, 3}
    with pytest.raises(RandomShapeError, match=r"p has shape \(2,\), and there are 3"):
        random.choice(key, 3, (), p=np.float32([1, 2]))
    with pytest.raises(RandomDTypeError, match="choice: p is of type"):
        random.choice(key, 3, (), p=np.array([1, 2, 3]))
    with pytest.raises(RandomDTypeError, match="choice: a is of type"):
        random.choice(key, 1.5)
    with pytest.raises(RandomShapeError, match="axis=1 is not a dimension of a"):
        random.choice(key, np.arange(3), axis=1)
