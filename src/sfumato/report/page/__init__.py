"""The HTML page of every report: layout, styles, and charts without script."""
