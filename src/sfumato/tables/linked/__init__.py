"""Several tables as one: common codes, shared cells, cells that no table shows, and what they disclose together."""
