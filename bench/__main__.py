"""Runs the benchmarks named on the command line, by default the quick ones."""

import sys
from importlib import import_module

QUICK = ("overview", "models", "mondrian")
ALL = (*QUICK, "search", "k_optimize", "tables", "service", "scale", "newcomer", "spark")


def main() -> None:
    for name in sys.argv[1:] or QUICK:
        if name not in ALL:
            raise SystemExit(f"There is no benchmark {name}. There are: {', '.join(ALL)}.")
        print(f"\n== {name} ==")
        import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
