"""Operations on attributes, one kind per file."""
