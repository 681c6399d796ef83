"""The extension module: built on request, missed aloud."""

import pytest

from sfumato.loops import compiled


def test_compile_builds_what_is_missing(sfumato):
    assert sfumato("compile", "--quiet").out == "The loops are built.\n"
    assert compiled.find_native() is not None


def test_missing_loops_are_said_and_run_as_python(monkeypatch):
    def double(number: int) -> int:
        return 2 * number

    monkeypatch.setattr(compiled, "find_native", lambda: None)
    compiled.native_module.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="sfumato compile"):
            assert compiled.compiled(double) is double
    finally:
        compiled.native_module.cache_clear()
    monkeypatch.setenv("SFUMATO_LOOPS", "python")
    assert compiled.way() == "python"
    compiled.native_module.cache_clear()
