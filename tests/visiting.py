"""Pages as Streamlit's AppTest opens them, and what stands on them. Found, not listed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from attention_core.examples import EXAMPLES
from attention_ui.charts import legend
from conftest import ROOT

LESSONS = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
"""The names of the lessons' files."""
PAGES = [f"pages/{name}.py" for name in LESSONS]
EVERYWHERE = ["app.py", *PAGES]
A_PAGE = "pages/simplified_attention.py"
"""One that is quick to open, where one stands for all."""


def visit(page: str, /, **link: str) -> AppTest:
    """A page, or a lesson by its name, as a link opens it in a new session. It asks nothing to be
    predicted, and shows `wild_cat`, unless the link says so.
    """
    return _opened(page, {"predict": "off", "example": "wild_cat", **link})


def first_visit(page: str) -> AppTest:
    """A page, or a lesson by its name, at its address without any parameter."""
    return _opened(page, {})


def _opened(page: str, link: dict[str, str]) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    if page != "app.py":
        at.switch_page(page if page in PAGES else f"pages/{page}.py")
    for name, value in link.items():
        at.query_params[name] = value
    return at.run()


def visit_with_printed_numbers(page: str, **link: str) -> AppTest:
    """The page with the first example whose notebook prints numbers of the lesson, if any does."""
    for example in EXAMPLES:
        at = visit(page, example=example, **link)
        if not prints_nothing(at):
            break
    return at


def prints_nothing(at: AppTest) -> bool:
    """Whether the notebook of the page's example prints no numbers of the lesson."""
    return not any(each.value == "Checked against the notebook" for each in at.header)


def stands(at: AppTest) -> AppTest:
    """The page again, seen to have a title and no exception."""
    has_no_exception(at)
    assert at.title, "the page has no title"
    return at


def has_no_exception(at: AppTest) -> None:
    assert not at.exception, [exception.message for exception in at.exception]


def box(at: AppTest, name: str):
    """The select box of a setting, whatever it offers."""
    (found,) = [each for each in at.selectbox if each.key.startswith(f"control_{name}")]
    return found


def texts(at: AppTest) -> str:
    """All that is shown as plain text."""
    return "\n".join(element.value for element in at.text)


def words(at: AppTest) -> str:
    """All paragraphs, ours and plain ones."""
    return "\n".join(each.value for each in (*at.markdown, *at.caption, *at.text))


PLAIN = {
    *(("Text", "body"), ("Code", "code_text"), ("PageLink", "query_string")),
    *(("TextArea", "value"), ("TextArea", "default"), ("TextInput", "value")),
    *(("TextInput", "default"), ("Selectbox", "options"), ("Selectbox", "raw_value")),
    *(("MultiSelect", "options"), ("MultiSelect", "raw_values")),
    *(("VegaLiteChart", "spec"), ("VegaLiteChart", "alt"), ("BidiComponent", "json")),
}
"""What Streamlit's browser shows letter by letter. All else that it is sent may be Markdown. Tables
and what charts are drawn from are bytes, and no strings.
"""


def rendered(at: AppTest) -> str:
    """All that may be rendered as Markdown, LaTeX or HTML: every string that the page sends, of
    every element and block, but for what is known to be plain.
    """
    return "\n".join(text for node in _nodes(at._tree) for text in _strings(node))


def _nodes(node) -> Iterator:
    yield node
    for child in getattr(node, "children", {}).values():
        yield from _nodes(child)


def _strings(node) -> Iterator[str]:
    message = getattr(node, "proto", None)
    if isinstance(message, Message):
        name = message.DESCRIPTOR.name
        for path, text in _of_message(message):
            if (name, path) not in PLAIN:
                yield text


def _of_message(message: Message, path: str = "") -> Iterator[tuple[str, str]]:
    """The strings of a message, and of those within it, by the names of their fields."""
    for field, value in message.ListFields():
        inner = f"{path}.{field.name}" if path else field.name
        several = [*value] if field.is_repeated else [value]
        if hasattr(value, "values"):  # a map: its keys are in there
            several += value.values()
        for each in several:
            if isinstance(each, str):
                yield inner, each
            elif isinstance(each, Message):
                yield from _of_message(each, inner)


def charts(at: AppTest) -> list:
    """The charts of a page, as they are sent."""
    return [chart.proto for chart in at.get("vega_lite_chart")]


COVERED = " Its numbers are covered by a question."


@dataclass(frozen=True)
class Drawn:
    """A picture: a chart, or one matrix of an equation, which is one chart of all its matrices."""

    alt: str
    table: pa.Table | None

    @property
    def is_covered(self) -> bool:
        """Whether it says that a question covers its numbers."""
        return self.alt.endswith(COVERED)


def drawn(at: AppTest) -> list[Drawn]:
    """The pictures of a page, with the tables that are sent for them."""
    return [each for chart in charts(at) for each in _drawn(chart)]


def _drawn(chart) -> list[Drawn]:
    table = pa.ipc.open_stream(chart.data.data).read_all() if chart.data.data else None
    if table is None or "matrix" not in table.column_names:
        return [Drawn(chart.alt, table)]
    alts = re.split(r" (?=Heatmap of )", chart.alt)
    numbers = table["matrix"].to_pylist()
    # Beyond the matrices are the tokens of the sentence above them, which have no numbers, and the
    # legend below.
    assert len(alts) <= len({*numbers} - {legend.NUMBER}) <= len(alts) + 1
    found = [table.filter(pa.array([n == at for n in numbers])) for at in range(len(alts))]
    return [Drawn(alt, each) for alt, each in zip(alts, found, strict=True)]
