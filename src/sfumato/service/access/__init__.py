"""Authentication by API key, trusted proxy or OpenID Connect, and the audit log."""
