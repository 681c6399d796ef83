"""Attacks side by side: anonymeter's risks on three CSV files (published, raw, control), in an environment of its own.

`make peers-attacks` writes the files from the census generator, runs this in an environment that has anonymeter, and
then Sfumato's attacks on the same files; both print risk and interval.
"""

import json
import sys
import warnings


def peer(published: str, raw: str, control: str, attempts: int) -> dict[str, list[float]]:
    """The risks by anonymeter, each with its interval."""
    import pandas as pd
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    warnings.simplefilter("ignore")
    frames = [pd.read_csv(path, sep=";") for path in (raw, published, control)]
    names = list(frames[0].columns)
    secret = names[-1]
    known = [name for name in names if name != secret]
    single = SinglingOutEvaluator(frames[0], frames[1], control=frames[2], n_attacks=attempts, n_cols=3)
    single.evaluate(mode="multivariate")
    linking = LinkabilityEvaluator(
        frames[0], frames[1], control=frames[2], n_attacks=attempts, aux_cols=(names[::2], names[1::2]), n_neighbors=1
    )
    linking.evaluate(n_jobs=1)
    inference = InferenceEvaluator(
        frames[0], frames[1], control=frames[2], aux_cols=known, secret=secret, n_attacks=attempts
    )
    inference.evaluate(n_jobs=1)
    evaluators = {"singling-out": single, "linking": linking, "inference": inference}
    return {name: _figures(one.risk(confidence_level=0.95)) for name, one in evaluators.items()}


def _figures(risk: object) -> list[float]:
    return [risk.value, *risk.ci]  # type: ignore[attr-defined]


def own(published: str, raw: str, control: str, attempts: int) -> dict[str, list[float]]:
    """The risks by Sfumato."""
    import polars as pl

    from sfumato.pipelines.attack import attack

    frames = [pl.read_csv(path, separator=";", infer_schema=False) for path in (published, raw, control)]
    secret = frames[0].columns[-1]
    known = [name for name in frames[0].columns if name != secret]
    report = attack(
        frames[0], frames[1], control=frames[2], quasi_identifiers=known, sensitive=[secret], attempts=attempts
    )
    variants = {
        "singling-out": "sensitive values known too",
        "linking": "two sets of columns",
        "inference": "nearest rows",
    }
    return {
        one.name: [one.risk, *one.risk_interval]
        for one in report.attacks
        if one.name in variants and one.variant.endswith(variants[one.name])
    }


def write(folder: str, rows: int) -> None:
    """Published rows that are half copies and half made up, raw rows, and a control of as many."""
    from pathlib import Path

    from sfumato import datasets

    raw, control, others = (datasets.census(rows, seed).to_polars() for seed in (1, 2, 3))
    copies = raw.head(rows // 2)
    frames = {"raw": raw, "control": control, "published": copies.vstack(others.head(rows - rows // 2))}
    for name, frame in frames.items():
        frame.write_csv(Path(folder) / f"{name}.csv", separator=";")


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "write":
        write(arguments[0], int(arguments[1]))
    else:
        run = peer if what == "peer" else own
        print(json.dumps(run(*arguments[:3], int(arguments[3]))))
