"""The cell key method: noise that depends on who is in a cell."""
