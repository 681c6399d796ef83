"""Visitors of the pages: browsers within the browser, each with its own cookies, who come again with empty hands.

A new one reads and compiles all scripts of the pages, which takes half a second. So one who has left is taken again by
a later test: its pages are closed and what sites have stored is erased; what is kept is what it has read, as a person's
browser does between visits.
"""

from urllib.parse import urlsplit

STORED = "cookies,local_storage,indexeddb,service_workers,cache_storage,file_systems,websql"
# A page that is never closed keeps the process; it is of the same site as the server, whatever the port.
SITE = "http://127.0.0.1/"


class Visitor:
    """A context of the browser, and the addresses that it has asked for since it entered."""

    def __init__(self, context, options):
        self.context, self.options = context, options
        self._asked = []
        context.route(SITE, lambda route: route.fulfill(body=""))
        self._stays = context.new_page()
        self._stays.goto(SITE)
        context.unroute_all()
        context.on("request", lambda made: self._asked.append(made.url))

    def pages(self):
        """Its pages, without the one that stays."""
        return [page for page in self.context.pages if page is not self._stays]

    def emptied(self):
        """Close its pages and erase what it holds; the addresses that it asked for."""
        for page in self.pages():
            page.close()
        asked, self._asked = self._asked, []
        self.context.unroute_all()
        self.context.set_offline(self.options.get("offline", False))
        self.context.clear_cookies()
        self.context.clear_permissions()
        erasing = self.context.new_cdp_session(self._stays)
        for origin in sorted({f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" for url in asked}):
            erasing.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": STORED})
        erasing.detach()
        return asked


class Visitors:
    """Those who have left, by the options they were made with."""

    def __init__(self, browser, script, waiting_seconds):
        self._browser, self._script, self._waiting_seconds = browser, script, waiting_seconds
        self._outside = {}

    def enters(self, **options):
        """A visitor with nothing in hand."""
        outside = self._outside.setdefault(repr(sorted(options.items())), [])
        return outside.pop() if outside else self._made(options)

    def _made(self, options):
        context = self._browser.new_context(accept_downloads=True, **options)
        context.add_init_script(self._script)
        context.set_default_timeout(self._waiting_seconds * 1000)
        return Visitor(context, options)

    def leaves(self, visitor):
        """Empty its hands for the next test; the addresses that it asked for."""
        asked = visitor.emptied()
        self._outside[repr(sorted(visitor.options.items()))].append(visitor)
        return asked
