"""Moving over: projects of other tools become plans with their files, and hierarchies and results go back."""
