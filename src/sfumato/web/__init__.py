"""Pages in the browser, on the same server as the API."""
