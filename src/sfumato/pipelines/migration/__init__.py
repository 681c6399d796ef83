"""Import projects of other tools as plans, and export hierarchies and results."""
