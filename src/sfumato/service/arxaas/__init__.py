"""Routes for clients of ARXaaS."""
