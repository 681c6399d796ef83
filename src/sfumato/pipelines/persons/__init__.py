"""Persons over several releases: matching, earlier releases, pseudonyms."""
