"""Check files against policies: measure rows and tables, clause by clause."""
