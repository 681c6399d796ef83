"""The pages that release microdata, one step per file."""
