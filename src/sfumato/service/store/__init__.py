"""The store of jobs and servers: SQLite on one machine, PostgreSQL for several."""
