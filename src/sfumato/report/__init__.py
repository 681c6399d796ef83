"""Reports: the results of a job as text, JSON, HTML or Word."""
