"""The frequency table, and how it is grouped."""
