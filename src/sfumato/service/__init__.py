"""The web service: REST over the library's functions, with guards for data that people entrust to it."""
