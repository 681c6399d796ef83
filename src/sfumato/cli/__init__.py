"""The command line: one file per command; each parses options, calls the library, prints and returns an exit code."""

import gc
import os

# Modules that load leave no garbage, and looking for it after every 700 objects takes a tenth of a short command; so
# many objects are more than a short command has. Before the first of its modules loads.
gc.set_threshold(250_000)
# Threads for linear algebra wait for work when NumPy loads: asleep after 2^4 cycles instead of busy for 2^26, which
# takes as long as half of NumPy. Their number and what they compute stay the same.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
