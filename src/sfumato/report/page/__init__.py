"""What every HTML report is set on: the page, its styles, and plots without script."""
