"""What the tests of pipelines share: generators of messy files lie beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
