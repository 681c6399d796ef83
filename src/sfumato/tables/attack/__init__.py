"""The audit: what attackers can compute from the published table."""
