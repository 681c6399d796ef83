"""A policy's clause on rates judges a column of shares by its numbers, whatever it is called and wherever it stands."""

import pytest

from sfumato.cli.main import run

COUNTS = {"a": (3, 27, 40), "b": (5, 33, 28), "c": (19, 22, 61), "d": (44, 31, 17), "Total": (71, 113, 146)}


def written(path, name, share, small=("a", "b")):
    """A table of which the first two counts of some areas are suppressed, with a share next to each total."""
    lines = [f"area,m,f,x,Total,{name}"]
    for area, counts in COUNTS.items():
        shown = [str(count) if area not in small or place == 2 else "*" for place, count in enumerate(counts)]
        text = share(counts, area in small)
        lines.append(",".join([area, *shown, str(sum(counts)), text]))
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("name", ["v2", "andel", "share of Total", "x %"])
@pytest.mark.parametrize("of", [4, 1, None])
def test_shares_of_suppressed_counts_do_not_pass(tmp_path, name, of):
    """Of the row's total, of another count, of the column's total."""

    def share(counts, _):
        whole = 71 if of is None else (*counts, 0, sum(counts))[of]
        return f"{100 * counts[0] / whole:.1f} %"

    assert run(["check", written(tmp_path / "t.csv", name, share), "--policy", "cms-11", "--quiet"]) == 1


def test_shares_of_shown_counts_pass(tmp_path):
    def share(counts, _):
        return f"{100 * counts[2] / sum(counts):.1f} %"

    assert run(["check", written(tmp_path / "t.csv", "v2", share), "--policy", "cms-11", "--quiet"]) == 0


def test_shares_next_to_shown_counts_alone_pass(tmp_path):
    def share(counts, suppressed):
        return "*" if suppressed else f"{100 * counts[0] / sum(counts):.1f} %"

    assert run(["check", written(tmp_path / "t.csv", "v2", share), "--policy", "cms-11", "--quiet"]) == 0
