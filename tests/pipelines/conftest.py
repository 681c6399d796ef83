"""Shared helpers of the pipeline tests: generators of messy files in this folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
