"""Released data stay what they are: each frozen case publishes the bytes that were recorded."""

from pathlib import Path

import pytest

from frozen.inputs import write_inputs
from frozen.released import cases, differences, expected, released

CASES, EXPECTED = cases(), expected()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.mark.parametrize("name", CASES)
def test_a_case_publishes_what_it_did(name: str, inputs: Path, tmp_path: Path) -> None:
    changed = [*differences(EXPECTED.get(name, {}), released(CASES[name], inputs, tmp_path / "case"))]
    assert not changed, f"{name}: {'; '.join(changed)}"


def test_what_was_recorded_are_data_of_these_cases() -> None:
    assert list(EXPECTED) == sorted(CASES)
    assert all(digest["bytes"] for digests in EXPECTED.values() for digest in digests.values())
    assert all(EXPECTED.values())
