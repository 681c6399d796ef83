"""What pages and reports say: one table of texts a language, all with the same keys, and one way to ask for them."""
