"""What a page declares: a name that nothing has is refused at once, in words."""

import ast
import inspect
import shutil
from collections import Counter

import pytest
from streamlit.testing.v1 import AppTest

from attention_core.trace import Trace
from attention_ui.cards.page import Misdeclared
from attention_ui.cards.tracked_trace import TrackedTrace
from serving import HANG
from visiting import A_PAGE, ROOT

BODY = "def weights(v, trace):"
WRONG = {
    "a control": ("controls=[shared.DIVIDE]", "controls=[shared.HEAD]", "control 'head'"),
    "a picture's control": ("moving(shared.SHOWN_TERMS,", "moving(shared.HEAD,", "control 'head'"),
    "a picture": ("in_picture(shared.FACTOR)", 'in_picture(shared.FACTOR, "scrs")', "draws scores"),
    "a second card": ('    "context",\n', '    "weights",\n', "two cards of"),
    "a step": ('words.looks_at, ["weights"]', 'words.looks_at, ["wights"]', "no such step"),
    "an argument": (BODY, "def weights(v, trase):", "asks for trase"),
    "a drawing": (BODY, f'{BODY}\n    st.markdown("drawn")', "a call of Streamlit’s"),
    "cookies": (BODY, f"{BODY}\n    assert not st.context.cookies", "a call of Streamlit’s"),
    "the theme": (BODY, f"{BODY}\n    assert not st.context.theme.type", "a call of Streamlit’s"),
    "the visit": (BODY, f"{BODY}\n    assert session.chosen()", "by `chosen` at simplified_a"),
    "a trace's notes": (BODY, f"{BODY}\n    assert trace.plain", "looked at untracked"),
    "an answer's card": ("    words.made_of,", '    lambda: Answer("Why?", "So.", "why"),',
        "'why'"),
    "an answer's step": ("    words.made_of,",
        '    lambda: Answer("Why?", "So.", "weights", ("wieghts",)),', "Did you mean 'weights'"),
    "a step to be asked again with": ('again=["scores"]', 'again=["scroes"]', "asked again with"),
    "words without a place": (BODY, f'{BODY}\n    yield "So it is."', "which cannot be drawn"),
    "a picture that there is not": (BODY,
        f'{BODY}\n    yield ui.in_picture(shared.FACTOR, "none")', "but draws"),
    "a button's control": (BODY,
        f'{BODY}\n    yield ui.set_to("Set", "set", fctr=2)', "sets 'fctr'"),
    "a link's control": (BODY,
        f'{BODY}\n    yield ui.link_to("causal_mask", "Go", fctr="2")', "has no control"),
    "a link's lesson": (BODY, f'{BODY}\n    yield ui.link_to("casual_mask", "Go")', ""),
    "a picture that does not move": ("    yield ui.moving(shared.FACTOR, compared)",
        "    made, parts = compared(1.0)\n    yield ui.matrices(made, *parts)", "does not move by"),
    "an element returned": ("yield ui.moving(shared.SHOWN_TERMS",
        "return ui.moving(shared.SHOWN_TERMS", "it has to `yield`"),
    "nothing yielded": ("yield ui.moving(shared.SHOWN_TERMS", "ui.moving(shared.SHOWN_TERMS",
        "returns nothing"),
    "a module imported in a card": (BODY, f"{BODY}\n    import os\n    assert os.environ",
        "the environment"),
    "a row twice": ("page.show()", 'page.deeper("a")\npage.deeper("b")\npage.show()', "two rows"),
    "what a control undoes": ("page.show()",
        'page.controls = [*page.controls, Control("one", shared.FACTOR.field, undoes=("factr",))]'
        "\npage.show()", "undoes 'factr'"),
    "what a control changes": ("page.show()",
        'page.controls = [*page.controls, Control("one", shared.FACTOR.field, changes="weigts")]'
        "\npage.show()", "changes the step 'weigts'"),
    "a question that stands nowhere": ("    ask=LOOKS_AT,\n", "", "stands on no card"),
    "a control that nothing reads": ("page.show()",
        'page.controls = [*page.controls, Control("one_more", shared.FACTOR.field, start=1.0)]'
        "\npage.show()", "reads the control 'one_more'"),
    "print": (BODY, f"{BODY}\n    print(v.divide)", "the server’s log"),
    "a page that is never shown": ("page.show()", "page", "never shows it"),
    "a control twice": ("page.show()",
        "page.controls = [*page.controls, shared.FACTOR]\npage.show()", "two controls"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_name_that_nothing_has_is_refused_in_words(what, tmp_path, monkeypatch):
    old, new, told = WRONG[what]
    shutil.copytree(ROOT / "pages", tmp_path / "pages")
    shutil.copy(ROOT / "app.py", tmp_path)
    page = tmp_path / A_PAGE
    source = page.read_text(encoding="utf-8")
    assert source.count(old) == 1
    answer = """from attention_ui.controls import session
from attention_ui.reactive.control import Control
from attention_ui.frame.ends import Answer
import streamlit as st
"""
    page.write_text(answer + source.replace(old, new), encoding="utf-8")
    said: list[str] = []
    monkeypatch.setattr(Misdeclared, "__init__", lambda _, words: said.append(words))
    at = AppTest.from_file(str(tmp_path / "app.py"), default_timeout=HANG)
    at.query_params["predict"] = "on"
    at.switch_page(A_PAGE).run()
    assert told in " ".join(said)
    assert at.exception


def test_whatever_a_card_asks_of_a_trace_is_noted():
    """Also that a step is not there: another value would bring it."""
    adds, by_labels = {"step", "again", "of", "label", "label_by_head", "has_gradient"}, {"name_of"}
    asked = {name for name in vars(Trace) if not name.startswith("_")} - adds - by_labels
    asked |= {"__getitem__", "__contains__", "__iter__", "__len__"}
    assert asked <= vars(TrackedTrace).keys(), "give TrackedTrace a method that tracks it"
    made = {name: vars(TrackedTrace)[name] for name in asked}
    said = {name: inspect.getsource(getattr(each, "fget", each)) for name, each in made.items()}
    silent = [name for name, code in said.items() if "self._track" not in code]
    assert silent == [], "call `_track` in these methods of TrackedTrace"


def test_a_card_asks_only_of_steps_that_other_code_names_too():
    """A misspelt one is covered by no question, so that what would answer it is shown."""
    asked, known = {}, Counter()
    for path in [*ROOT.glob("pages/*.py"), *ROOT.glob("attention_[cu]*/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            known[getattr(node, "value", None)] += isinstance(node, ast.Constant)
            called = isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2]
            first = {"is_covered": 0, "waits_for": 0, "closes": 2}.get(called)
            if first is not None:
                last = 1 if called == "waits_for" else None
                for each in node.args[first:last]:
                    if isinstance(each, ast.Constant):
                        asked.setdefault(each.value, []).append(path.name)
    assert {"weights", "split_queries", "query_weights"} <= asked.keys()
    wrong = {name: at for name, at in asked.items() if known[name] <= len(at)}
    assert wrong == {}, "no code names these steps but who asks whether they are covered"


@pytest.mark.parametrize("path", sorted(ROOT.glob("pages/*.py")), ids=lambda path: path.stem)
def test_a_page_is_shown_at_its_end(path):
    """Else it declares all it has, and is empty."""
    *_, last = ast.parse(path.read_text(encoding="utf-8")).body
    assert ast.unparse(last) == "page.show()", "let its last line be page.show()"
