"""Attacks on published rows, as measurements: singling out, linking, inference, order, minimality, differences."""
