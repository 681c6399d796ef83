"""Properties of workbook cells besides their values: merged cells, uncomputed formulas, errors, leading zeros."""
