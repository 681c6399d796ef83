"""Entry point of `python -m sfumato`: the command line."""

from sfumato.cli.main import main

main()
