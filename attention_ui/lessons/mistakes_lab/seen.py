"""Where a mistake was seen: what published notebooks have of it, with their own numbers."""

from collections.abc import Iterator

from attention_core.examples import EXAMPLES
from attention_core.published.stories import Story, stories_of

from ...cards.elements import Element, button, caption, say
from ...cards.stories import told
from ...controls import visit
from ...controls.control import Values


def stories(mistake: str, values: Values) -> Iterator[Element]:
    """The stories of a mistake, with the way to it; of "", those that have no switch."""
    found = stories_of(mistake)
    if not found:
        yield say(
            "None of the five notebooks has this one. You may still meet it, in other people's "
            "code or in your own."
        )
    for story in found:
        yield from told(story)
        if mistake:
            yield _way_to(story, values)


def _way_to(story: Story, values: Values) -> Element:
    """The way to the mistake on the sentence of its notebook, unless that is what is shown."""
    is_shown = values.sentence == EXAMPLES[story.example].inputs.sentence
    if values.example == story.example and is_shown:
        return caption("This is the sentence that you are looking at.")

    def switch_on() -> None:
        visit.change(example=story.example)  # it brings all of its own settings
        visit.change(mistake=story.mistake)

    # No link: one from a page to itself leaves the browser's address as it was.
    return button(
        "Switch it on with this sentence",
        f"seen_{story.name}",
        switch_on,
        icon=":material/arrow_forward:",
        type="tertiary",
        disabled="example" in {*values.hide, *values.lock},
    )
