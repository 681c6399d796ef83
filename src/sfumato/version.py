"""The version, for whoever needs it without the package."""

__version__ = "0.1.0"
