"""Attacks on published rows: singling out, linkage, inference, row order, minimality, differencing."""
