"""The frame of every page: areas and steps on the left, the open project; and how a step uses its area."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, Protocol

from nicegui import ui

from sfumato.localization.messages import languages
from sfumato.service.access.sign_in import LEAVING
from sfumato.web import components
from sfumato.web.projects.workspace import Workspace

AREAS = (("/", "rows_area"), ("/tables", "tables_area"), ("/attributes", "attributes_area"), ("/help", "help_area"))
LOOKING_SECONDS = 2.0
LANGUAGE_NAMES = {"de": "Deutsch", "en": "English"}


class Shell:
    """The frame around an area, which puts its steps into `steps` and its content into the container of `build`."""

    def __init__(self, workspace: Workspace, path: str, erase: Callable[[], None]) -> None:
        self.workspace, self.path, self.erase = workspace, path, erase
        self.words = workspace.words
        self.steps: Any = None
        self.about: Any = None

    @contextmanager
    def build(self) -> Iterator[None]:
        """Build the frame; the body of the context is its content."""
        components.add_style()
        self.dark = ui.dark_mode(self.workspace.dark)
        with ui.left_drawer(bordered=False).props("width=232 breakpoint=900").classes("sf-nav") as drawer:
            self._navigation()
        with ui.element("div").classes("sf-page"):
            with ui.element("div").classes("sf-topbar"):
                menu = ui.button(icon="menu", on_click=drawer.toggle).props("flat round dense")
                menu.props["aria-label"] = self.words["menu"]
                ui.label(self.words["title"]).classes("font-bold")
            yield
        self._watch = ui.timer(LOOKING_SECONDS, self._look)

    def _look(self) -> None:
        """Show that the project was encrypted after inactivity; a click opens it again."""
        if not self.workspace.asleep:
            return
        self._watch.cancel()
        with ui.dialog(value=True).props("persistent"), ui.card():
            ui.label(self.words["asleep"])
            components.button(self.words["wake"], ui.navigate.reload)

    def _navigation(self) -> None:
        words = self.words
        ui.label(words["title"]).classes("sf-name").props('role="heading" aria-level="1"')
        self.about = ui.label(words["motto"]).classes("sf-about")
        with ui.element("nav") as areas:
            areas.props["aria-label"] = words["areas"]
            for target, name in AREAS:
                link = ui.link(words[name], target)  # the browser adds the path of the mount
                if target == self.path:
                    link.props('aria-current="page"')
                    self.steps = ui.element("div").classes("sf-steps")
        with ui.element("div").classes("sf-foot"):
            self._foot()

    def _foot(self) -> None:
        words = self.words
        with ui.element("div").classes("sf-languages"):
            for language in languages():
                link = ui.link(LANGUAGE_NAMES[language], f"{self.path}?language={language}").props(f'lang="{language}"')
                if language == words.language:
                    link.props('aria-current="true"')
            light = ui.button(icon="contrast", on_click=self._change_light).props("flat round dense size=sm")
            light.props["aria-label"] = words["light"]
        ui.label(words["nothing_leaves"])
        if self.workspace.user:
            ui.label(words["signed_in"].format(name=self.workspace.user)).classes("sf-user")
            ui.html(f'<a href="{LEAVING}">{escape(words["sign_out"])}</a>', sanitize=False)

    def _change_light(self) -> None:
        self.workspace.dark = not self.dark.value
        self.dark.set_value(self.workspace.dark)


class Area(Protocol):
    """An area of steps; it is stale if another tab has changed the project since it was built."""

    workspace: Workspace
    shell: Shell

    @property
    def stale(self) -> bool:
        """Return whether another tab has changed the project."""
        ...

    def go(self, step: str) -> None:
        """Go to a step."""
        ...

    def refresh(self) -> None:
        """Rebuild the current step."""
        ...

    def tell_steps(self) -> None:
        """Update which steps are done."""
        ...

    def ways(self, back: str | None, onward: str | None) -> None:
        """Build the buttons for the previous and the next step."""
        ...


class Step(Protocol):
    """A step of an area."""

    def build(self) -> None:
        """Build the step in the current container; data is loaded, except in the first step."""
        ...
