"""The compiled loops come with the wheel where a C compiler is at hand; without one the wheel holds Python alone."""

import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LoopsHook(BuildHookInterface):
    """Builds `sfumato.loops.native` before the files of a wheel are gathered."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the module; an editable installation finds it beside the sources."""
        del version
        # Not by PYTHONPATH: pip drops from it what an editable installation named.
        place = f"import sys; sys.path.insert(0, {str(Path(self.root, 'src'))!r})"
        command = [sys.executable, "-c", f"{place}; from sfumato.loops.build import main; raise SystemExit(main())"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            self.app.display_warning(run.stderr.strip()[-2000:])
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"].append(f"src/sfumato/loops/native{sysconfig.get_config_var('EXT_SUFFIX')}")
