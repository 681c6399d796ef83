"""The pages in the browser: the whole work without programming, on the same server as the service."""
