"""The attacker: what can be computed from what is published."""
