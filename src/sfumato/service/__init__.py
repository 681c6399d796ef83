"""The web service: the library's functions over REST, with access control and limits."""
