"""What every route shares: access, bodies, problems, limits, logs."""
