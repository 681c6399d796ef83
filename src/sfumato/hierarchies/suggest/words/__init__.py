"""Words that speak of persons, in the names and in the values of columns."""
