"""Reports of tables: suppressed, perturbed, compared, and of batch files."""
