"""The store: jobs and the servers that run them, in SQLite on one machine or in PostgreSQL for several."""
