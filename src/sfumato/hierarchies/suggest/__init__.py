"""What a plan could say of a column: its role, its type and its hierarchy, each with the evidence for it."""
