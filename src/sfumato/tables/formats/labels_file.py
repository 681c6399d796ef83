"""`.cdl` files: labels of codes, one `code,label` per line."""

from pathlib import Path

from sfumato.tables.argus.file_errors import lines_of, wrong


def read_labels(path: Path, codes: set[str] | None = None, encoding: str | None = None) -> dict[str, str]:
    """Read the labels of codes.

    Args:
        codes: The valid codes; None if any code may occur.
        encoding: Encoding of the file; detected if None.

    Raises:
        DataError: A line has no label, or its code is unknown or duplicate.
    """
    labels: dict[str, str] = {}
    for number, line in enumerate(lines_of(path, encoding), start=1):
        if not line.strip():
            continue
        code, comma, label = (part.strip().strip('"') for part in line.partition(","))
        if not comma:
            raise wrong(path.name, number, len(line) + 1, "labels.the_label_is_missing")
        if code in labels:
            raise wrong(path.name, number, 1, "labels.the_code_stands_twice")
        if codes is not None and code not in codes:
            raise wrong(path.name, number, 1, "unknown-code.the_code_is_unknown")
        labels[code] = label
    return labels
