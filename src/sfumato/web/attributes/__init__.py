"""The page that anonymizes attributes."""
