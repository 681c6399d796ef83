"""The one reader of delimited files: encoding, separator, quotes, header, decimal mark, gzip, and what can be wrong.

Small files (tables, hierarchies, records) are read here; of large ones the head is, and an engine reads the rows by the
dialect that was decided here.
"""
