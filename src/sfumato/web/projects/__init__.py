"""Projects of browsers: the workspace at hand, and the encrypted file between visits."""
