"""The pages that release rows, one step a file."""
