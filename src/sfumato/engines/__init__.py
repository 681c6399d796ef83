"""Engines: count the rows wherever they lie, and apply a recoding to them; all SQL text lives here."""
