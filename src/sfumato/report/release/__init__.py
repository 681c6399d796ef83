"""Reports of a microdata release: internal, for publication, and to be signed."""
