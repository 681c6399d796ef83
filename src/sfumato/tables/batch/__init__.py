"""What a batch file asks for: tables crossed from records, safety rules, protection of the table of an office."""
