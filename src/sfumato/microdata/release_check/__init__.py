"""The release check: what an attacker infers from the published rows alone."""
