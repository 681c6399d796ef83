"""Noise: normal random numbers are added, to each column separately or to several with the correlation of the columns.

Kim, J. (1986). A method for limiting disclosure in microdata based on random noise and transformation. Noise with the
covariance matrix of the columns times a factor preserves all correlations in expectation; means are preserved in
expectation, and variances grow by the same factor for all.
"""

import numpy as np

from sfumato.microdata.models.equivalence_classes import Floats


def with_noise(values: Floats, drawn: Floats, share: float, deviation: float | None, correlated: bool) -> Floats:
    """Return values with noise of a share of the columns' standard deviations.

    Args:
        values: (records, columns).
        drawn: Standard normal numbers, (records, columns).
        share: The standard deviation of the noise as a share of that of the column.
        deviation: The standard deviation of the noise itself; None computes it from the share.
        correlated: Whether the noise of the columns has their correlations.
    """
    if not correlated:
        noisy: Floats = values + (share * values.std(axis=0) if deviation is None else deviation) * drawn
        return noisy
    covariance = np.atleast_2d(np.cov(values, rowvar=False, bias=True))
    # A root of the matrix that also exists if columns are linearly dependent.
    eigenvalues, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    together: Floats = values + share * drawn @ root.T
    return together
