"""Build cells, relations and the attackers' knowledge from the source of a table."""
