"""Build hook: wheels contain the compiled loops, one module for all versions of Python."""

import importlib
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LoopsHook(BuildHookInterface):
    """Builds `sfumato.native.native` before the files of a wheel are gathered."""

    def dependencies(self) -> list[str]:
        """The compiler of ziglang, on a system that has none."""
        return [] if self._builder().has_compiler() else ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the module; an editable installation finds it next to the sources."""
        del version
        # Not by PYTHONPATH: pip drops from it what an editable installation named.
        place = f"import sys; sys.path.insert(0, {str(self._sources)!r})"
        command = [sys.executable, "-c", f"{place}; from sfumato.native.build import main; raise SystemExit(main())"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            self.app.display_warning(run.stderr.strip()[-2000:])
            return
        builder = self._builder()
        build_data["pure_python"] = False
        if builder.IS_LIMITED:
            build_data["tag"] = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        else:
            build_data["infer_tag"] = True
        build_data["artifacts"].append(f"src/sfumato/native/{builder.FILE}")

    @property
    def _sources(self) -> Path:
        return Path(self.root, "src")

    def _builder(self) -> ModuleType:
        sys.path.insert(0, str(self._sources))
        try:
            return importlib.import_module("sfumato.native.build")
        finally:
            sys.path.remove(str(self._sources))
