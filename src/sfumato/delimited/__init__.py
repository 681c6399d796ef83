"""Read delimited files: encoding, separator, quotes, header, decimal mark, gzip, and possible errors.

Small files (tables, hierarchies, records) are read here completely. Of large files only the head is read; an engine
reads the rows with the dialect that was detected here.
"""
