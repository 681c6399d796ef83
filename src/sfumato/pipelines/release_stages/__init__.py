"""The stages of microdata pipelines: counting, perturbing, disclosure, checksums."""
