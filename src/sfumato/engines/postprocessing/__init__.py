"""Changes to files after they were written: interval bounds, formulas, the record of persons."""
