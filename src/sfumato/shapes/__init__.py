"""Plans: what is wanted, as frozen values read from YAML or JSON."""
