"""Holding files against policies: what is measured of rows and of tables, clause by clause."""
