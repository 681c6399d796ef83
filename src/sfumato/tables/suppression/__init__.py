"""Secondary suppression: the pattern of minimum cost, or a good one quickly."""
