"""Full-domain generalization: one level a column."""
