"""What each row is published as, and what must be counted afterwards."""
