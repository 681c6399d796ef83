"""YAML's library, whose regular expressions wait: it reads, refuses and writes as ever, and nobody else is touched."""

import subprocess
import sys

import pytest

LOADED = "import re\nbefore = re.compile\nfrom sfumato.schema.yaml_library import yaml_library\nyaml = yaml_library()\n"


@pytest.mark.parametrize(
    ("script", "answer"),
    [
        ("print(re.compile is before, yaml is yaml_library())", "True True"),
        ("print(isinstance(yaml.reader.Reader.NON_PRINTABLE, re.Pattern))", "False"),
        ("print(yaml.safe_load('[2020-01-31, 0x1F, 1.5, no, 12:30:00, text]'))", None),
        ("print(yaml.safe_dump({'a': ['01', 'no', 1.5, '2020-01-31', 'Größe', None]}))", None),
        ("try: yaml.safe_load('a: \\x01')\nexcept yaml.YAMLError as error: print(error)", None),
    ],
)
def test_the_library_works_as_it_does_when_it_loads_by_itself(script, answer) -> None:
    told = _printed(LOADED + script)
    assert told == (_printed("import yaml\n" + script) if answer is None else answer)
    assert told


def test_what_others_compile_meanwhile_is_compiled_at_once(tmp_path) -> None:
    (tmp_path / "yaml").mkdir()
    (tmp_path / "yaml" / "__init__.py").write_text("import beside\n")
    (tmp_path / "beside.py").write_text("import re\nPATTERN = re.compile('a')\n")
    found = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
    script = f"{found}{LOADED}import beside\nprint(type(beside.PATTERN).__name__)"
    assert _printed(script) == "Pattern"


def _printed(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
