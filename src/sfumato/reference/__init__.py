"""Pages of the documentation that are made from the code: plans, commands, requests, names of the library, words."""
