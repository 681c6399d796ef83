"""Cell suppression: single cells are published as missing, as few as possible."""
