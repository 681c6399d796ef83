"""The result step: whether the release may be published, what was preserved, the remaining risk, alternatives."""
