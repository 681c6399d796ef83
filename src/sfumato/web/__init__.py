"""The browser pages: the whole workflow without programming, on the same server as the service."""
