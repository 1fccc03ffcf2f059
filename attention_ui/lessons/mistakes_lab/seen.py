"""Where a mistake was seen: what published notebooks have of it, with their own numbers."""

import streamlit as st

from attention_core.examples import EXAMPLES
from attention_core.published.stories import Story, stories_of

from ...controls import held
from ...controls.control import Values


def show_stories(mistake: str, values: Values) -> None:
    """The stories of a mistake, each with the way to it in the lab."""
    found = stories_of(mistake)
    if not found:
        st.markdown(
            "None of the five notebooks has this one. You may still meet it, in other people's "
            "code or in your own."
        )
    for story in found:
        _tell(story)
        _way_to(story, values)


def show_others() -> None:
    """The stories that the lab has no switch for."""
    for story in stories_of(""):
        _tell(story)


def _tell(story: Story) -> None:
    told = story.told()
    seen = f"Seen in a published notebook, on “{EXAMPLES[story.example].title}”"
    st.markdown(f"**{story.title}** :gray[:small[{seen}]]")
    st.markdown(f":orange[:material/close:] {told.wrong}")
    st.markdown(f":green[:material/check:] {told.right}")


def _way_to(story: Story, values: Values) -> None:
    """The way to the mistake on the sentence of its notebook, unless that is what is shown."""
    is_shown = values.sentence == EXAMPLES[story.example].inputs.sentence
    if values.example == story.example and is_shown:
        st.caption("This is the sentence that you are looking at.")
        return
    # No link: one from a page to itself leaves the browser's address as it was.
    st.button(
        "Switch it on with this sentence",
        key=f"seen_{story.name}",
        icon=":material/arrow_forward:",
        type="tertiary",
        on_click=_open,
        args=(story,),
        disabled="example" in {*held.names_in("hide"), *held.names_in("lock")},
    )


def _open(story: Story) -> None:
    """The notebook's sentence, and then the mistake: an example brings all of its own settings."""
    held.change(example=story.example)
    held.change(mistake=story.mistake)
