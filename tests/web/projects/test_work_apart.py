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
        for call in ast.walk(ast.parse(text)) if ".aside(" in text else ():
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "aside":
                found.add(getattr(import_module(page), call.args[0].id).__module__)
    return found


def test_no_process_apart_loads_what_pages_are_made_of() -> None:
    """A second went by before each preview: the function lay in the module of its page."""
    modules = sorted(_modules())
    assert "sfumato.web.attributes.anonymized_records" in modules
    code = f"import sys, {', '.join(modules)}; sys.exit('nicegui' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
