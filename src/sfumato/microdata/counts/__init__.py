"""The frequency table and its grouping into equivalence classes."""
