"""Plan files: YAML or JSON text from disk, refused with its place when it is neither."""

from pathlib import Path
from typing import Any

from sfumato.errors import PlanError


def load(path: Path) -> Any:
    """The plain value in a YAML or JSON file.

    Raises:
        PlanError: The file cannot be read, is not UTF-8, or is not YAML.
    """
    import yaml

    try:
        return yaml.load(path.read_text(encoding="utf-8-sig"), Loader=_loader())
    except OSError as error:
        raise PlanError(
            f"the plan {path.name} cannot be read: {error.strerror}.", "Check the path.", "unreadable"
        ) from None
    except UnicodeDecodeError:
        raise PlanError(f"the plan {path.name} is not UTF-8.", "Save it as UTF-8.", "encoding") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not valid YAML"
        raise PlanError(f"the plan {path.name} is not YAML{where}: {problem}.", code="yaml") from None


def _loader() -> Any:
    """YAML's safe loader, which here also refuses a key that is given twice instead of keeping the last."""
    import yaml

    class PlanLoader(yaml.SafeLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            seen = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node, deep=True)
                if isinstance(key, str) and key in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f'key "{key}" stands twice', key_node.start_mark
                    )
                seen.add(key if isinstance(key, str) else repr(key))
            return super().construct_mapping(node, deep)

    return PlanLoader
