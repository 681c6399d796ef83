"""The lexicon of role detection: terms in names and values of columns about persons."""
