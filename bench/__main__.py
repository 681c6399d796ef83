"""Runs the benchmarks named on the command line, by default the quick ones."""

import sys
from collections.abc import Sequence
from importlib import import_module

QUICK = ("overview", "models", "mondrian", "roles")
ALL = (*QUICK, "search", "k_optimize", "tables", "service", "scale", "newcomer", "spark")


def main(names: Sequence[str]) -> int:
    """Run some benchmarks; 1 where one of them misses a bar that it knows."""
    for name in names:
        if name not in ALL:
            raise SystemExit(f"There is no benchmark {name}. There are: {', '.join(ALL)}.")
    missed = False
    for name in names:
        print(f"\n== {name} ==")
        sys.argv = [name]  # the names are no options of a benchmark
        missed |= bool(import_module(f"bench.{name}").main())
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or QUICK))
