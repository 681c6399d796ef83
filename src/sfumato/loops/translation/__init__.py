"""From the Python source of a compiled loop to C."""
