"""Local recoding: each class at its own level."""
