"""The engine for data frames in memory."""
