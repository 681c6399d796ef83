"""Engines count rows and apply recodings where the data is; all SQL is in this package."""
