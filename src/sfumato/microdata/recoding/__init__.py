"""Recodings: what each row is published as, and the counts expected afterwards."""
