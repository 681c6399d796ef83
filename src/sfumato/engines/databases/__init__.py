"""Read and write tables in databases."""
