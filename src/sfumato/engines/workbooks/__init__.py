"""Properties of workbook cells other than their values: merged cells, uncomputed formulas, errors, leading zeros."""
