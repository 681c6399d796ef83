"""Batch files of τ-ARGUS, run command by command."""
