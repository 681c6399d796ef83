"""Projects of browsers: the open workspace, and the encrypted file between visits."""
