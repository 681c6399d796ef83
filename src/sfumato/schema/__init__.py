"""Plan schemas: read plans from YAML or JSON into frozen values."""
