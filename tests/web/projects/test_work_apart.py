"""What is worked out apart from a page is begun at once: its process does not load what pages are made of."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import sfumato.web

PLACE = Path(sfumato.web.__file__).parent


def _modules() -> set[str]:
    """The modules of all functions that pages have worked out apart."""
    found = set()
    for path in PLACE.rglob("*.py"):
        page = ".".join(("sfumato.web", *path.relative_to(PLACE).with_suffix("").parts))
        text = path.read_text(encoding="utf-8")
        for call in ast.walk(ast.parse(text)) if "aside(" in text or "watched(" in text else ():
            for given in call.args if isinstance(call, ast.Call) and _is_apart(call.func) else ():
                function = getattr(import_module(page), given.id, None) if isinstance(given, ast.Name) else None
                found |= {function.__module__} if callable(function) else set()
    return found


def _is_apart(called: ast.expr) -> bool:
    """Whether a call has its first function worked out in a process of its own."""
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) in ("aside", "watched")


def test_no_process_apart_loads_what_pages_are_made_of() -> None:
    """A second went by before each preview: the function lay in the module of its page."""
    modules = sorted(_modules())
    assert {"sfumato.web.projects.loaded_data", "sfumato.web.microdata.result.result_figures"} <= {*modules}
    code = f"import sys, {', '.join(modules)}; sys.exit('nicegui' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
