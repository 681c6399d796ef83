"""The files of statistical offices, one format a file: read and written."""
