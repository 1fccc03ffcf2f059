"""Where a mistake was seen: what published notebooks have of it, with their own numbers."""

from functools import partial

import streamlit as st

from attention_core.examples import EXAMPLES
from attention_core.published.stories import Story, stories_of

from ...page.page import Page
from ...settings import session
from ...shell.frame import LINE
from .lab import chosen


def seen(page: Page) -> None:
    """The stories of the chosen mistake, and folded away those that the lab has no switch for."""
    settings = page.view.settings
    page.header("Seen in the wild", anchor="seen")
    page.words(
        "Everybody makes these mistakes, and people who teach make them in public. Five published "
        "notebooks on attention are computed again here, so each mistake can be told with the "
        "notebook's own numbers, and with the right ones beside them.",
        caption=True,
    )
    name = chosen(settings).name
    page.part(
        "stories", partial(show_stories, name), about=(name, settings.example, settings.sentence)
    )
    with page.folded("What else the notebooks can teach", "other_stories"):
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
    st.markdown(f"**{story.title}**", width=LINE)
    st.caption(f"Seen in a published notebook, on “{EXAMPLES[story.example].title}”", width=LINE)
    st.markdown(f":orange[:material/close:] {told.wrong}", width=LINE)
    st.markdown(f":green[:material/check:] {told.right}", width=LINE)


def _way_to(story: Story) -> None:
    """The way to the mistake on the sentence of its notebook, unless that is what is shown."""
    now = session.current()
    if now.example == story.example and now.sentence == EXAMPLES[story.example].inputs.sentence:
        st.caption("This is the sentence that you are looking at.")
        return
    # No link: one from a page to itself leaves the browser's address as it was.
    st.button(
        "Switch it on with this sentence",
        key=f"seen_{story.name}",
        icon=":material/arrow_forward:",
        type="tertiary",
        on_click=partial(_open, story),
        disabled="example" in now.fixed,
    )


def _open(story: Story) -> None:
    """The notebook's sentence, and then the mistake: an example brings all of its own settings."""
    session.change(example=story.example)
    session.change(mistake=story.mistake)
