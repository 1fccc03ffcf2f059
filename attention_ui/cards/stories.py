"""What went wrong in a published notebook, told in a card."""

from collections.abc import Iterator

from attention_core.examples import EXAMPLES
from attention_core.published.stories import Story

from ..words import RIGHT_SIGN, WRONG_SIGN
from .elements import Element, say


def told(story: Story) -> Iterator[Element]:
    """What went wrong, and what its own numbers say of it."""
    words = story.told()
    seen = f"Seen in a published notebook, on “{EXAMPLES[story.example].title}”"
    yield say(f"**{story.title}** :gray[:small[{seen}]]")
    yield say(f"{WRONG_SIGN} {words.wrong}")
    yield say(f"{RIGHT_SIGN} {words.right}")
