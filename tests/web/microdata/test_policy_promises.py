"""A policy is chosen on the page by looking into all rows, which tells how far it is."""

from sfumato import datasets
from sfumato.web.projects.loaded_data import asked_promises, load


def test_choosing_a_policy_tells_how_far_it_is(tmp_path) -> None:
    """Without a word of it, a million rows were refused as taking too long."""
    path = tmp_path / "patients.csv"
    datasets.patients(60).write(path)
    loaded, told = load(path), []
    plan = {**loaded.suggested, "policy": {"name": "gdpr-wp216"}}
    asked = asked_promises(path, loaded.read, plan, lambda *progress: told.append(progress))
    assert asked and all("model" in one for one in asked)
    assert [*dict.fromkeys(stage for stage, _, _ in told)] == ["count", "look", "compare-columns"]
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
