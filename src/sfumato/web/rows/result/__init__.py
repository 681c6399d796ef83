"""The step of the result: may this be published, what was kept, what risk is left, what else could be released."""
