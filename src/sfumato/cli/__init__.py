"""The command line: one file a command; each parses, calls, renders and ends with the right exit code."""

import gc

# Modules that load leave no garbage, and looking for it after every 700 objects takes a tenth of a short command; so
# many objects are more than a short command has. Before the first of its modules loads.
gc.set_threshold(250_000)
