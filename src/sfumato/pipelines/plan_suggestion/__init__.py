"""The steps of a suggestion: first look, persons, inference between columns, cost."""
