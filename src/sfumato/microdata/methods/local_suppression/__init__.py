"""Local suppression: as few single values as possible are published as missing."""
