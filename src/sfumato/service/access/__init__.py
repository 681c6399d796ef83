"""Who may use the service, by key, by a proxy's word or by OpenID Connect, and a record of who did what."""
