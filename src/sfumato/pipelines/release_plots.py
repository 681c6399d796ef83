"""Charts of a release as SVG, for notebooks and files."""

from pathlib import Path

from sfumato.atomic_folders import write_bytes, write_text
from sfumato.dataclass import dataclass
from sfumato.errors import PlanError, extra_part
from sfumato.localization.messages import Messages, words_in
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.full_domain.trade_off import alternatives
from sfumato.microdata.plan.methods import FullDomain
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import Recoding
from sfumato.microdata.release_report import Report
from sfumato.report.page.plots import alone, bars, histogram
from sfumato.report.release.sections.column_evidence import class_sizes
from sfumato.report.release.sections.sections import SHARES

KINDS = (".svg", ".png", ".pdf")


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart as SVG."""

    svg: str

    def save(self, path: str | Path) -> Path:
        """Write the chart to a file by its extension: .svg; .png and .pdf with the extra `charts`.

        Raises:
            PlanError: The extension is not supported.
            EngineError: The extra is not installed, or the file cannot be written.
        """
        target = Path(path)
        if target.suffix.lower() not in KINDS:
            raise PlanError("chart", name=target.name, names=", ".join(KINDS))
        if target.suffix.lower() == ".svg":
            write_text(target, self.svg + "\n")
        else:
            write_bytes(target, self._converted(target.suffix.lower()))
        return target

    def _converted(self, kind: str) -> bytes:
        with extra_part("vl-convert-python", "charts"):
            import vl_convert
        converted: bytes = (
            vl_convert.svg_to_png(self.svg, scale=2) if kind == ".png" else vl_convert.svg_to_pdf(self.svg)
        )
        return converted

    def __repr__(self) -> str:
        return f"Drawing({len(self.svg):,} characters of SVG; save(path) writes it)"

    def _repr_html_(self) -> str:
        return f"<figure>{self.svg}</figure>"


@dataclass(frozen=True, slots=True, repr=False)
class Plots:
    """The charts of a release."""

    report: Report
    plan: Plan
    table: FrequencyTable
    recoding: Recoding

    def __repr__(self) -> str:
        return "Plots(risk, columns, tradeoff)"

    @property
    def _words(self) -> Messages:
        return words_in(self.plan.language)

    def risk(self) -> Drawing:
        """Draw the distribution of rows by class size, before and after."""
        words = self._words
        sizes = class_sizes(self.table.counts, self.recoding.sizes[~self.recoding.suppressed])
        small = sum(pair.before or 0.0 for pair in sizes[:2])
        about = words["report.sizes"].format(share=words.percent(small))
        return Drawing(alone(histogram(words, sizes, words["report.sizes_axis"], about), words))

    def columns(self) -> Drawing:
        """Draw the loss of each column, or the preserved values if the loss is no proportion."""
        words, loss = self._words, self.report.loss
        shares, title = dict(loss.per_column), words["plot.loss"].format(name=loss.name)
        if not shares or loss.name not in SHARES:
            left = self.report.utility.get("values_left", {})
            shares, title = {name: entry["share"] for name, entry in left.items()}, words["plot.left"]
        pairs = [(name, share, words.percent(share)) for name, share in shares.items()]
        return Drawing(alone(bars(pairs, title, title)))

    def tradeoff(self) -> Drawing:
        """Draw the minimal loss for other suppression limits.

        Raises:
            PlanError: The method is no full-domain recoding, so there is nothing to search.
        """
        words, method = self._words, self.plan.method
        others = [
            one for one in alternatives(self.plan, self.table, self.recoding) if one.suppression_limit is not None
        ]
        if not others or not isinstance(method, FullDomain):
            raise PlanError("plot.there_is_no_trade_off", name=method.name)
        own = method.suppression.limit(self.report.rows) / max(self.report.rows, 1)
        asked = (own, self.report.loss.value, words["plot.asked"].format(share=words.percent(own)))
        steps = sorted(
            [
                asked,
                *(
                    (one.suppression_limit or 0.0, one.loss, words.percent(one.suppression_limit or 0.0))
                    for one in others
                ),
            ]
        )
        pairs = [(name, loss, words.amount(loss)) for _, loss, name in steps]
        return Drawing(alone(bars(pairs, words["plot.budgets"], words["plot.budgets_about"])))
