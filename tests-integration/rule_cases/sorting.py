"""Cases of sorting and of random bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from axonym import lax
from rule_cases.case import Case, spaced, whole

NAN, INF = np.nan, np.inf


def _sorted(*xs: Any, axis: int, keys: int) -> list[Any]:
    order = np.lexsort([x for x in xs[:keys]][::-1], axis=axis)
    return [np.take_along_axis(x, order, axis) for x in xs]


def _sorts() -> Iterator[Case]:
    for axis in (0, 1):

        def sort(x: Any, axis: int = axis) -> Any:
            return lax.sort(x, axis)

        def by_one(x: Any, axis: int = axis) -> Any:
            return np.sort(x, axis)

        yield Case("sort", sort, by_one, (spaced((4, 3)),), f"along {axis}")
        yield Case("sort", sort, by_one, (spaced((4, 3)).astype("f4"),), f"along {axis}")
        yield Case("sort", sort, by_one, (whole((3, 4), 0, 5),), f"along {axis}")
        yield Case("sort", sort, by_one, (spaced((1, 1)),), f"along {axis}, of one")
        yield Case("sort", sort, by_one, (np.zeros((0, 2)),), f"along {axis}, of none")
        special = np.array([[NAN, 1.0, -INF], [INF, NAN, 0.0], [0.0, 2.0, 1.0]])
        yield Case("sort", sort, by_one, (special,), f"along {axis}, special", smooth=False)

        def sort_two(x: Any, y: Any, axis: int = axis) -> Any:
            return lax.sort((x, y), axis)

        def by_first(x: Any, y: Any, axis: int = axis) -> Any:
            return _sorted(x, y, axis=axis, keys=1)

        yield Case(
            "sort", sort_two, by_first, (spaced((4, 3)), spaced((4, 3), seed=1)), f"along {axis}"
        )
        yield Case(
            "sort",
            sort_two,
            by_first,
            (whole((4, 3), 0, 3), spaced((4, 3))),
            f"along {axis}, stable",
        )

    def sort_three(x: Any, y: Any, z: Any) -> Any:
        return lax.sort((x, y, z), 0, num_keys=2)

    def by_two(x: Any, y: Any, z: Any) -> Any:
        return _sorted(x, y, z, axis=0, keys=2)

    yield Case(
        "sort",
        sort_three,
        by_two,
        (whole((6,), 0, 2), spaced((6,)), spaced((6,), seed=2)),
        "two keys",
    )


def _largest() -> Iterator[Case]:
    for k in (1, 2, 4):

        def top(x: Any, k: int = k) -> Any:
            return lax.top_k(x, k)

        def largest(x: Any, k: int = k) -> Any:
            order = np.argsort(-x, axis=-1, kind="stable")[..., :k]
            return [np.take_along_axis(x, order, -1), order]

        def values(x: Any, k: int = k) -> Any:
            return lax.top_k(x, k)[0]

        def largest_values(x: Any, k: int = k) -> Any:
            return np.sort(x, -1)[..., ::-1][..., :k]

        yield Case("top_k", top, largest, (spaced((2, 4)),), f"{k} and where")
        yield Case("top_k", top, largest, (whole((2, 4), 0, 3),), f"{k}, with ties")
        yield Case("top_k", values, largest_values, (spaced((2, 4)),), f"{k}")
        yield Case("top_k", values, largest_values, (spaced((4,)).astype("f4"),), f"{k}")


def threefry(key0: Any, key1: Any, x0: Any, x1: Any) -> list[Any]:
    """The generator in Python's integers, one element at a time."""
    mask = 0xFFFFFFFF

    def one(k0: int, k1: int, a: int, b: int) -> tuple[int, int]:
        keys = (k0, k1, k0 ^ k1 ^ 0x1BD11BDA)
        a, b = (a + k0) & mask, (b + k1) & mask
        for group in range(5):
            for turn in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
                a = (a + b) & mask
                b = ((b << turn | b >> (32 - turn)) & mask) ^ a
            a, b = (
                (a + keys[(group + 1) % 3]) & mask,
                (b + keys[(group + 2) % 3] + group + 1) & mask,
            )
        return a, b

    operands = np.broadcast_arrays(key0, key1, x0, x1)
    pairs = [
        one(*map(int, words)) for words in zip(*[x.reshape(-1) for x in operands], strict=True)
    ]
    words = np.array(pairs, np.uint32).reshape(-1, 2)
    return [words[:, k].reshape(operands[0].shape) for k in range(2)]


def _random() -> Iterator[Case]:
    words = np.array([0, 1, 0xFFFFFFFF, 0x13198A2E, 12345, 7], np.uint32)
    shape = words.reshape(2, 3)
    scalar = np.array(0x243F6A88, np.uint32)
    yield Case("threefry2x32", lax.threefry2x32, threefry, (shape, shape + 1, shape * 3, shape ^ 5))
    yield Case(
        "threefry2x32",
        lax.threefry2x32,
        threefry,
        (scalar, scalar + 1, words, words + 9),
        "scalar keys",
    )
    for width in (8, 16, 32, 64):

        def bits(key: Any, width: int = width) -> Any:
            return lax.threefry_random_bits(key, width, (2, 3))

        def drawn(key: Any, width: int = width) -> Any:
            count = np.arange(6, dtype=np.uint32).reshape(2, 3)
            lead = key.reshape(*key.shape[:-1], 1, 1, 2)
            a, b = threefry(lead[..., 0], lead[..., 1], np.uint32(0), count)
            if width == 64:
                return a.astype(np.uint64) << np.uint64(32) | b.astype(np.uint64)
            return (a ^ b).astype(f"u{width // 8}")

        yield Case(
            "random_bits", bits, drawn, (np.array([3, 0xDEADBEEF], np.uint32),), f"{width} bits"
        )
        yield Case(
            "random_bits", bits, drawn, (words.reshape(3, 2),), f"{width} bits of three keys"
        )


CASES = [*_sorts(), *_largest(), *_random()]
