"""What all routes share: access, request bodies, errors, limits, logs."""
