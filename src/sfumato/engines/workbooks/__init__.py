"""What workbooks say of cells besides their values: merged ones, formulas nobody computed, errors, leading zeros."""
