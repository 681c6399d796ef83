"""Several files joined by keys: which persons look alike with all their rows, and how far these must be generalized."""
