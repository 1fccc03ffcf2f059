"""The glossary: its words are those of the lessons, and it opens without touching the page."""

import re

import pytest

from attention_ui.cards.review import declared
from attention_ui.frame.contents import lesson
from attention_ui.frame.glossary import TERMS, meanings, terms_in
from chosen import FIELDS, of
from sampling import few
from visiting import (
    A_PAGE,
    EVERYWHERE,
    LESSONS,
    ROOT,
    charts,
    lesson_module,
    rendered,
    stands,
    visit,
    words,
)

ALL_SHOWN = {"positions": "on", "temperature": "2", "divide": "sqrt_d", "tokenizer": "text"}
ALL_SHOWN |= {"memory_rule": "both", "layer_dropout": "0.5"}
"""With what is off at first, and explained as well."""
FIXED = {"hide": "seed,tokenizer", "lock": "d_in", "d_in": "5", "predict": "off"}


def test_terms_stand_in_the_order_of_the_alphabet_each_once():
    found = [term.word.casefold() for term in TERMS]
    assert found == sorted(set(found))


@pytest.mark.parametrize(("words", "found"), [
    ("Queries meet keys; a query is one.", ["query", "key"]),
    ("The causal mask hides every later token.", ["causal mask", "token"]),
    ("`W_query` and $W_{key}$ are names, a monkey is none, nor is subtoken.", []),
    ("Heads, joined heads and the output matrix.", ["head", "joined heads", "output matrix"]),
    ("Embeddings have a width.", ["embedding", "width"]),
])  # fmt: skip
def test_the_terms_of_a_paragraph_are_found_in_its_order(words, found):
    assert [term.word for term in terms_in(words)] == found
    assert meanings(terms_in(words)).count("**") == 2 * len(found)


@pytest.mark.slow("20 s: every page")
@pytest.mark.parametrize("page", few(sorted({term.page for term in TERMS} - {"home"}), 3))
def test_a_term_opens_in_the_first_words_that_always_stand_and_not_below(page):
    at = stands(visit(page, predict="off"))
    cards = declared(ROOT / lesson(page).page).cards
    always = {each.words for each in cards if isinstance(each.words, str) and not each.when}
    told: set[str] = set()
    for one in (each for each in (*at.markdown, *at.caption) if each.help):
        heads = re.findall(r"^\*\*(.+?)\*\*:", one.help, re.MULTILINE)
        assert not {*heads} & told
        assert len(heads) == len({*heads})
        if not told or one.value in always:  # the lesson's question is the first
            told |= {*heads}
    assert told
    assert told <= {term.word for term in TERMS}
    hidden = stands(visit(page, predict="off", hide="glossary"))
    assert not any((each.help or "").startswith("**") for each in hidden.markdown)


def test_every_name_is_a_step_of_a_lesson_or_a_setting():
    values = of(**ALL_SHOWN)
    steps = {name for lesson in LESSONS for name in lesson_module(lesson).trace_of(values)}
    assert not {name for term in TERMS for name in term.names.split()} - steps - {*FIELDS}


@pytest.mark.slow("40 s: every page")
@pytest.mark.parametrize("page", few(sorted({term.page for term in TERMS}), 2))
def test_the_page_that_a_term_leads_to_says_the_word(page):
    at = visit(lesson(page).page, **ALL_SHOWN)
    said = [rendered(at), words(at), *(each.alt for each in charts(at))]
    said += [each.value for each in (*at.title, *at.header)]
    said += [each.label for each in at.select_slider]
    text = "\n".join(said).casefold()
    for term in TERMS:
        if term.page == page:
            missing = [w for w in re.findall(r"\w+", term.word.casefold()) if w not in text]
            assert not missing, term.word


@pytest.mark.slow("60 s: every page twice")
@pytest.mark.parametrize("page", few(EVERYWHERE, 2, first=A_PAGE))
def test_it_opens_on_every_page_and_leaves_the_page_as_it_was(page):
    def drawn():
        return [(each.spec, each.alt, each.data.data) for each in charts(at)]

    at = stands(visit(page, **FIXED))
    before = drawn(), at.query_params.copy(), {**at.session_state["session"].chosen}
    n_links = len(at.get("page_link"))
    assert TERMS[0].meaning not in words(at), "nothing of it is drawn until it is opened"
    at.button(key="glossary").click().run()
    stands(at)
    said = [each.value for each in at.markdown]
    assert [e for e in said if e in {t.heading() for t in TERMS}] == [t.heading() for t in TERMS]
    assert {term.meaning for term in TERMS} <= set(said)
    assert (drawn(), at.query_params, {**at.session_state["session"].chosen}) == before
    links = [each.proto for each in at.get("page_link")]
    assert len(links) == n_links + len(TERMS)
    contents = {each.proto.page: each.proto.query_string for each in at.sidebar.get("page_link")}
    assert "hide=seed%2Ctokenizer" in contents[""]
    assert all(each.query_string == contents[each.page] for each in links[-len(TERMS) :])
    at.run()
    assert TERMS[0].meaning not in words(at), "the next run of the page closes it"
