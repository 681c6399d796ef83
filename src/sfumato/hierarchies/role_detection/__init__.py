"""Role detection: suggest role, type and hierarchy of a column, each with its evidence."""
