"""Keys and draws under the transformations of the other packages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axonym as ax
import axonym.numpy as anp
from axonym import lax, random
from axonym.errors import KeyArrayError, MappedAxisError, NotDifferentiableError

BACKENDS = ["numpy", "xla"]


@pytest.fixture(params=BACKENDS, autouse=True)
def backend(request: pytest.FixtureRequest) -> Any:
    with ax.config.override(backend=request.param):
        yield request.param


def words(keys: Any) -> Any:
    return random.key_data(keys).tolist()


@pytest.mark.parametrize("in_axes", [0, -1])
def test_mapping_over_keys_is_a_loop_over_them(in_axes: int) -> None:
    keys = random.split(random.key(0), 4)
    drawn = ax.vmap(lambda k: random.normal(k, (3,)), in_axes=in_axes)(keys)
    assert drawn.tolist() == [random.normal(k, (3,)).tolist() for k in keys]


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_any_dimension_of_keys_can_be_mapped(axis: int) -> None:
    keys = random.split(random.key(0), (2, 3))
    out = ax.vmap(lambda ks: ax.vmap(random.fold_in, (0, None))(ks, 7), axis, axis)(keys)
    expected = [[words(random.fold_in(k, 7)) for k in row] for row in keys]

    assert out.shape == (2, 3)
    assert words(out) == expected


def test_a_single_key_has_no_dimension_to_map() -> None:
    with pytest.raises(MappedAxisError, match="maps dimension 0"):
        ax.vmap(random.uniform)(random.key(0))


def test_raw_keys_are_mapped_over() -> None:
    raw = random.split(random.PRNGKey(0), 3)
    drawn = ax.vmap(random.uniform)(raw)
    assert drawn.tolist() == [float(random.uniform(k)) for k in raw]


def test_seeds_and_numbers_are_mapped_over() -> None:
    keys = ax.vmap(random.key)(np.arange(3))
    assert words(keys) == [words(random.key(seed)) for seed in range(3)]
    folded = ax.vmap(random.fold_in, (None, 0))(random.key(0), np.arange(3))
    assert words(folded) == [words(random.fold_in(random.key(0), i)) for i in range(3)]


def test_children_may_be_split_off_in_a_map() -> None:
    keys = random.split(random.key(0), 2)
    left, right = ax.vmap(lambda k: tuple(random.split(k)), out_axes=0)(keys)
    assert words(left) == [words(random.split(k)[0]) for k in keys]
    assert words(right) == [words(random.split(k)[1]) for k in keys]


def test_a_key_that_does_not_vary_gives_every_index_the_same() -> None:
    key = random.key(0)
    drawn = ax.vmap(lambda x: random.uniform(key) + x)(anp.zeros(3))
    assert len(set(drawn.tolist())) == 1

    own = ax.vmap(
        lambda x: random.uniform(random.fold_in(key, lax.axis_index("i"))) + x, axis_name="i"
    )(anp.zeros(3))
    assert own.tolist() == [float(random.uniform(random.fold_in(key, i))) for i in range(3)]


def test_xmap_over_named_keys() -> None:
    keys = random.split(random.key(0), 4)
    draw = ax.xmap(lambda k: random.uniform(k, (2,)), in_axes={0: "i"}, out_axes={0: "i"})
    assert draw(keys).tolist() == [random.uniform(k, (2,)).tolist() for k in keys]
    listed = ax.xmap(random.uniform, in_axes=["i"], out_axes=["i"])
    assert listed(keys).tolist() == [float(random.uniform(k)) for k in keys]
    mean = ax.xmap(lambda k: lax.pmean(random.uniform(k), "i"), in_axes={0: "i"}, out_axes={})
    assert float(mean(keys)) == pytest.approx(np.mean([float(random.uniform(k)) for k in keys]))


def test_the_names_over_which_keys_vary_are_known() -> None:
    seen = []

    def f(key: Any) -> Any:
        seen.append(dict(key.named_shape))
        return random.uniform(key)

    ax.vmap(f, axis_name="i")(random.split(random.key(0), 3))
    assert seen == [{"i": 3}]


def test_gradients_beside_keys() -> None:
    key = random.key(0)

    def f(x: Any, key: Any) -> Any:
        return anp.sum(x * random.normal(key, (3,)))

    gradient = ax.grad(f)(anp.ones(3), key)
    assert gradient.tolist() == random.normal(key, (3,)).tolist()
    per_key = ax.vmap(ax.grad(f), (None, 0))(anp.ones(3), random.split(key, 2))
    assert per_key.tolist() == [random.normal(k, (3,)).tolist() for k in random.split(key)]
    with pytest.raises(NotDifferentiableError):
        ax.grad(f, argnums=1)(anp.ones(3), key)


def test_draws_are_differentiable_in_their_parameters() -> None:
    key = random.key(0)
    u = float(random.uniform(key))

    low, high = ax.grad(lambda a, b: random.uniform(key, (), minval=a, maxval=b), argnums=(0, 1))(
        1.0, 3.0
    )
    assert float(low) == pytest.approx(1 - u, rel=1e-5)
    assert float(high) == pytest.approx(u, rel=1e-5)
    slope = ax.grad(lambda b: random.truncated_normal(key, -1.0, b))(2.0)
    step = 1e-3
    up, down = (float(random.truncated_normal(key, -1.0, 2.0 + s)) for s in (step, -step))
    assert float(slope) == pytest.approx((up - down) / (2 * step), rel=2e-2)
    assert float(ax.grad(lambda p: random.bernoulli(key, p).astype("float32"))(0.3)) == 0


def test_keys_are_carried_by_compiled_loops() -> None:
    @ax.jit
    def walk(key: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            key, x = state
            key, now = random.split(key)
            return (key, x + random.normal(now)), x

        return lax.scan(step, (key, 0.0), None, length=4)

    (key, last), path = walk(random.key(0))
    expected_key, x = random.key(0), 0.0
    for at in path.tolist():
        assert at == pytest.approx(x, abs=1e-5)
        expected_key, now = random.split(expected_key)
        x += float(random.normal(now))
    assert float(last) == pytest.approx(x, abs=1e-5)
    assert words(key) == words(expected_key)


def test_permutations_and_choices_are_mapped() -> None:
    keys = random.split(random.key(0), 3)
    orders = ax.vmap(lambda k: random.permutation(k, 6))(keys)
    assert orders.tolist() == [random.permutation(k, 6).tolist() for k in keys]
    p = np.float32([1, 2, 3])
    drawn = ax.vmap(lambda k: random.choice(k, 3, (5,), p=p))(keys)
    assert drawn.tolist() == [random.choice(k, 3, (5,), p=p).tolist() for k in keys]
    logits = anp.log(p)
    chosen = ax.vmap(random.categorical, (0, None))(keys, logits)
    assert chosen.tolist() == [int(random.categorical(k, logits)) for k in keys]
    x = anp.arange(12).reshape(3, 4)
    moved = ax.vmap(random.permutation)(keys, x)
    assert moved.tolist() == [
        random.permutation(k, r).tolist() for k, r in zip(keys, x, strict=True)
    ]


def test_keys_are_trees_of_weights_too() -> None:
    model = {"rng": random.key(3), "w": anp.ones(2)}
    there = ax.device_get(ax.block_until_ready(ax.device_put(model)))
    assert words(there["rng"]) == [0, 3]
    assert words(ax.jit(lambda m: m)(model)["rng"]) == [0, 3]


def test_both_backends_draw_the_same_bits(backend: str) -> None:
    del backend
    results = []
    for name in BACKENDS:
        with ax.config.override(backend=name):
            key = random.fold_in(random.key(2**40 + 1), 3)
            results.append(
                [
                    random.bits(key, (5,), "uint64").tolist(),
                    random.uniform(key, (5,), "float64").tolist(),
                    random.randint(key, (5,), 0, 1000).tolist(),
                    random.permutation(key, 9).tolist(),
                    random.bernoulli(key, 0.5, (9,)).tolist(),
                ]
            )
    assert results[0] == results[1]


def test_too_many_keys_are_refused_inside_a_map_too() -> None:
    with pytest.raises(KeyArrayError, match=r"array of keys of shape \(3,\)"):
        ax.vmap(random.uniform)(random.split(random.key(0), (2, 3)))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "name", ["normal", "exponential", "gumbel", "laplace", "logistic", "truncated_normal"]
)
def test_no_number_is_infinite_however_it_is_compiled(name: str, dtype: str) -> None:
    # These numbers are made of so few bits that every one of them is drawn.
    bounds = (-1.0, 2.0) if name == "truncated_normal" else ()
    drawn = getattr(random, name)(random.key(1), *bounds, (200_000,), dtype)
    assert np.isfinite(np.asarray(drawn).astype(np.float64)).all()
