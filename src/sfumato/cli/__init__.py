"""The command line: one file per command; each parses options, calls the library, prints and returns an exit code."""

import gc
import os

# Imports leave no garbage, and a collection after every 700 objects takes a tenth of a short command. This threshold
# exceeds the objects of a short command. It is set before the first import.
gc.set_threshold(250_000)
# NumPy's linear algebra threads wait for work when they are loaded. They sleep after 2^4 cycles instead of spinning for
# 2^26, which takes as long as half of NumPy's import. Their number and results are unchanged.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
