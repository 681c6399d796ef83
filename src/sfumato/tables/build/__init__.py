"""From the source of a table to its cells, relations and what the attacker knows."""
