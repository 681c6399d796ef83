"""Persons over several files and releases: linked files, earlier releases, pseudonyms."""
