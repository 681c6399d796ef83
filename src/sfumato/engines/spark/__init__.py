"""The engine for Apache Spark."""
