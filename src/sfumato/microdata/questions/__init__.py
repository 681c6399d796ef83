"""The questions that analysts ask of a release: formulas, answers, and whether the published rows give the same."""
