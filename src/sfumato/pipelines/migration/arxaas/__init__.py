"""Answer requests of clients of ARXaaS, the REST service around ARX."""
