"""Local recoding: each class has its own levels."""
