"""Anonymization of single attributes: masking, generalization and randomization, as a configuration says."""
