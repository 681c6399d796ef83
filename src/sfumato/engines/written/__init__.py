"""What is done to files that are written already: bounds of intervals, formulas, the record of persons."""
