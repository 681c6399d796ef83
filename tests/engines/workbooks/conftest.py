"""Adds this folder, with helpers that write workbooks, to the import path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
