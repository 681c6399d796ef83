"""The version number, available without importing the package."""

__version__ = "0.1.0"
