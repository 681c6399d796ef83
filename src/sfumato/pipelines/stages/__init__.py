"""What the pipelines of rows are made of: counting, perturbing, disclosure, seals."""
