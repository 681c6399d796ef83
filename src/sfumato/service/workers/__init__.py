"""Worker processes that can be ended at any time, forked from a template that has done all imports."""
