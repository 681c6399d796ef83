"""Privacy models: what every class of a release must satisfy, one per file."""
