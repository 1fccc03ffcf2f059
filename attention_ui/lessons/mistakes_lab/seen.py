"""Where a mistake was seen: what published notebooks have of it, with their own numbers."""

from functools import partial

import streamlit as st

from attention_core.examples import EXAMPLES
from attention_core.published.stories import Story, stories_of

from ...page.page import Page
from ...settings import session
from ...settings.settings import Settings
from ...shell.contents import lesson
from ...shell.frame import LINE
from .lab import chosen

PAGE = "mistakes_lab"


def seen(page: Page) -> None:
    """The stories of the chosen mistake, and folded away those that the lab has no switch for."""
    settings = page.view.settings
    page.header("Seen in a published notebook", anchor="seen")
    page.words(
        "Everybody makes these, and people who teach make them in public. Five notebooks from "
        "which thousands have learned attention are computed again here, so what went wrong in "
        "them can be told with their own numbers, wrong and right.",
        caption=True,
    )
    name = chosen(settings).name
    page.part("stories", partial(show_stories, name), about=(name, settings))
    with page.folded("What else the notebooks got wrong", "other_stories"):
        page.part("other_stories", show_others, about="others")


def show_stories(mistake: str) -> None:
    """The stories of a mistake, each with the way to it in the lab."""
    found = stories_of(mistake)
    if not found:
        st.markdown(
            "None of the five notebooks has this one. You may still meet it, in other people's "
            "code or in your own.",
            width=LINE,
        )
    for story in found:
        with st.container(border=True):
            _tell(story)
            _way_to(story)


def show_others() -> None:
    """The stories that the lab has no switch for."""
    for story in stories_of(""):
        _tell(story)


def _tell(story: Story) -> None:
    told = story.told()
    st.markdown(f"**{story.title}**, in “{_title(story)}”", width=LINE)
    st.markdown(f":orange[:material/close:] {told.wrong}", width=LINE)
    st.markdown(f":green[:material/check:] {told.right}", width=LINE)


def _way_to(story: Story) -> None:
    """A link to the mistake on the sentence of its notebook, unless that is what is shown."""
    now: Settings = session.current()
    if now.example == story.example and now.sentence == EXAMPLES[story.example].inputs.sentence:
        st.caption("This is the sentence that you are looking at.")
        return
    query, why_not = session.example_query(story.example)
    st.page_link(
        lesson(PAGE).page,
        label="Switch it on in the lab, with this sentence",
        icon=":material/arrow_forward:",
        query_params={**query, "mistake": story.mistake},
        disabled=bool(why_not),
        help=why_not or None,
    )


def _title(story: Story) -> str:
    return EXAMPLES[story.example].title
