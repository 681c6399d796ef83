"""The compiled loops come with the wheel where a C compiler is at hand; without one the wheel holds Python alone."""

import os
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
        source = Path(self.root, "src")
        path = os.pathsep.join([str(source), *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-m", "sfumato.loops.build"]
        run = subprocess.run(
            command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
        )
        if run.returncode:
            self.app.display_warning(run.stderr.strip()[-2000:])
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"].append(f"src/sfumato/loops/native{sysconfig.get_config_var('EXT_SUFFIX')}")
