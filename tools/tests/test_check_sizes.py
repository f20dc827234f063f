from __future__ import annotations

from pathlib import Path

import pytest

from tools import check_sizes


@pytest.fixture
def root(tmp_path: Path) -> Path:
    source = tmp_path / "packages" / "core" / "src"
    source.mkdir(parents=True)
    (source / "short.py").write_text("x = 1\n" * 5)
    (source / "long.py").write_text("x = 1\n" * 11)
    (source / "longer.py").write_text("x = 1\n" * 12)
    built = tmp_path / "docs" / "_build"
    built.mkdir(parents=True)
    (built / "generated.py").write_text("x = 1\n" * 100)
    return tmp_path


def test_long_modules_are_named_longest_first(root: Path) -> None:
    over = check_sizes.too_long(root, limit=10)

    assert [(path.name, lines) for path, lines in over] == [("longer.py", 12), ("long.py", 11)]


def test_a_module_at_the_limit_is_accepted(root: Path) -> None:
    assert check_sizes.too_long(root, limit=12) == []


def test_this_repository_keeps_the_limit() -> None:
    assert check_sizes.too_long(check_sizes.ROOT) == []
