"""The extension module: built on request, missed aloud."""

import pytest

from sfumato.native import dispatch


def test_compile_builds_what_is_missing(sfumato):
    assert sfumato("compile", "--quiet").out == "The loops are built.\n"
    assert dispatch.find_native() is not None


def test_missing_loops_are_said_and_run_as_python(monkeypatch):
    def double(number: int) -> int:
        return 2 * number

    monkeypatch.setattr(dispatch, "find_native", lambda: None)
    dispatch.native_module.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="sfumato compile"):
            assert dispatch.compiled(double) is double
    finally:
        dispatch.native_module.cache_clear()
    monkeypatch.setenv("SFUMATO_LOOPS", "python")
    assert dispatch.way() == "python"
    dispatch.native_module.cache_clear()
