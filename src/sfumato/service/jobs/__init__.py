"""Jobs: long-running work in processes of its own."""
