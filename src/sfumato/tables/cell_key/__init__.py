"""The cell key method: noise that depends on the records in a cell."""
