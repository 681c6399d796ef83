"""The answers of ARXaaS, the REST service around ARX, to requests as its public client writes them."""
