"""Pages as Streamlit's AppTest opens them, and what stands on them. Found, not listed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pyarrow as pa
from google.protobuf.message import Message
from streamlit import config
from streamlit.testing.v1 import AppTest

from attention_ui.cards import show
from attention_ui.frame.lesson_modules import module_of
from attention_ui.picture.layout import Layout
from attention_ui.reactive.control import Values
from conftest import ROOT
from serving import HANG

# What a page raises is said in full: the app itself says no more than its kind.
config.set_option("client.showErrorDetails", "full")

LESSONS = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
"""The names of the lessons' files."""
PAGES = [f"pages/{name}.py" for name in LESSONS]
EVERYWHERE = ["app.py", *PAGES]
A_PAGE = "pages/simplified_attention.py"
"""One that is quick to open, where one stands for all."""


def has_sentence(page: str) -> bool:
    """Whether a page shows a sentence of the visitor's: some lessons have numbers of their own."""
    return page == "app.py" or any(each.name == "sentence" for each in lesson_module(page).CONTROLS)


def visit(page: str, /, **link: str) -> AppTest:
    """A page, or a lesson by name, as a link opens it; asks nothing, on `wild_cat`, unless said."""
    return _opened(page, {"predict": "off", "example": "wild_cat", **link})


def visit_deeper(page: str, /, **link: str) -> AppTest:
    return _opened(page, {"predict": "off", "example": "wild_cat", **link}, row_deeper=True)


def first_visit(page: str) -> AppTest:
    return _opened(page, {})


def _opened(page: str, link: dict[str, str], **state: object) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=HANG)
    for name, value in state.items():
        at.session_state[name] = value
    if page != "app.py":
        at.switch_page(page if page in PAGES else f"pages/{page}.py")
    for name, value in link.items():
        at.query_params[name] = value
    return at.run()


@contextmanager
def noted_layouts() -> Iterator[list[Layout]]:
    """The layouts of the pictures that pages draw meanwhile."""
    found: list[Layout] = []
    draw = show.draw_picture

    def noted(name, layout, *others):
        found.append(layout)
        return draw(name, layout, *others)

    with patch.object(show, "draw_picture", noted):
        yield found


def pictures(page: str, /, **link: str) -> list[Layout]:
    with noted_layouts() as found:
        stands(visit(page, **link))
    return found


def lesson_module(page: str) -> ModuleType:
    """Where a page takes its trace from: a function `trace_of` of the values of its controls."""
    return module_of(Path(page).stem)


ROWS = ("row_deeper", "row_notebook", "row_take_away", "row_down", "row_by_layer", "row_who")
"""The rows of a page of cards that are opened to see all of it."""


def with_rows_open(at: AppTest) -> AppTest:
    """A page of cards with all rows at its end open; another page as it is."""
    rows = [name for name in ROWS if name in at.session_state]
    for name in rows:
        at.session_state[name] = True
    return at.run() if rows else at


def prints_nothing(at: AppTest) -> bool:
    """Whether the notebook of the page's example prints no numbers of the lesson."""
    headings = [each.value for each in at.header] + [each.label for each in at.expander]
    return not any("Checked against the notebook" in each for each in headings)


def stands(at: AppTest) -> AppTest:
    """The page again, seen to have a title and no exception."""
    has_no_exception(at)
    assert at.title, "the page has no title"
    return at


def has_no_exception(at: AppTest) -> None:
    assert not at.exception, [exception.message for exception in at.exception]


def values_of(at: AppTest) -> Values:
    return at.session_state["session"].values


def box(at: AppTest, name: str):
    (found,) = boxes(at, name)
    return found


def boxes(at: AppTest, name: str) -> list:
    """The same, where the page has it: a control stands where it changes something."""
    return [each for each in at.selectbox if each.key.startswith(f"control_{name}")]


def texts(at: AppTest) -> str:
    return "\n".join(element.value for element in at.text)


def words(at: AppTest) -> str:
    return "\n".join(each.value for each in (*at.markdown, *at.caption, *at.text))


PLAIN = {
    *(("Text", "body"), ("Code", "code_text"), ("PageLink", "query_string")),
    *(("TextArea", "value"), ("TextArea", "default"), ("TextInput", "value")),
    *(("TextInput", "default"), ("Selectbox", "options"), ("Selectbox", "raw_value")),
    *(("MultiSelect", "options"), ("MultiSelect", "raw_values")),
    *(("VegaLiteChart", "spec"), ("VegaLiteChart", "alt"), ("BidiComponent", "json")),
}
"""What Streamlit shows letter by letter: all else may be Markdown; tables are bytes."""


def rendered(at: AppTest) -> str:
    """Every string that a page sends, but for what is known to be plain: maybe Markdown."""
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
    return [chart.proto for chart in at.get("vega_lite_chart")]


@dataclass(frozen=True)
class Drawn:
    """A picture that is no matrix: what it says in words, and the table that is sent for it."""

    alt: str
    table: pa.Table | None


def small_charts(at: AppTest) -> list[Drawn]:
    """The pictures of a page that are no tables of cells."""
    found = []
    for chart in charts(at):
        sent = pa.ipc.open_stream(chart.data.data).read_all() if chart.data.data else None
        if sent is None or "kind" not in sent.column_names:
            found.append(Drawn(chart.alt, sent))
    return found
