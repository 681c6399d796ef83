"""Follow persons over several releases with the internal record of each folder."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

from sfumato.engines.keyed_hashes import PERSONS_FILE, record_key
from sfumato.microdata.attacks.attack_data import Columns
from sfumato.pipelines.attacks.target import AttackTarget
from sfumato.pipelines.sequential_releases.earlier_releases import read_release


def compared_by_persons(
    earlier: Sequence[Path], target: AttackTarget, raw: Columns
) -> list[Mapping[Hashable, Hashable]] | None:
    """Return for each release the class of each person; None without a person column or if a folder keeps no record.

    If the releases share their secret, all persons are compared; otherwise those whom the raw rows name.
    """
    plan, folder = target.plan, target.folder
    if plan is None or plan.person is None or folder is None or plan.person not in raw:
        return None
    folders = [*earlier, folder]
    if not all((one / PERSONS_FILE).exists() and (one / "plan.yaml").exists() for one in folders):
        return None
    releases = [read_release(one, plan.quasi_identifiers, ()) for one in folders]
    if len({release.secret for release in releases}) == 1:
        return [{key: labels for key, labels in release.classes.items()} for release in releases]  # noqa: C416
    persons = [text for text in dict.fromkeys(raw[plan.person]) if text is not None]
    followed: list[Mapping[Hashable, Hashable]] = []
    for release in releases:
        keys = {person: record_key(person, f"{release.secret}:person:") for person in persons}
        followed.append({person: release.classes[key] for person, key in keys.items() if key in release.classes})
    return followed
