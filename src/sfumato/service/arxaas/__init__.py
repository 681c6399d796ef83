"""Routes compatible with clients of ARXaaS."""
