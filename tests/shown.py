"""Examples are sought in files that show some: `--doctest-modules` alone imports every module in every worker."""

from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

Collected = list[pytest.Collector]


class OnlyShown:
    """What pytest collects, without the examples of files that have none."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, Collected, Collected]:
        collected = yield
        examples = [item for item in collected if isinstance(item, DoctestModule)]
        if not examples or ">>>" in file_path.read_text("utf-8"):
            return collected
        return [item for item in collected if item not in examples]
