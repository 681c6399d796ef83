"""Help inside the server."""
