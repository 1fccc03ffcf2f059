"""Mistakes of the five notebooks, told with numbers computed from their own examples.

    from attention_core.published.stories import STORIES

    print(STORIES["mask_after_softmax"].told().wrong)

To add one, write it where its notebook's stories are. It names the figures that its sentences have
and computes them; `tests/core/test_pitfalls.py` holds them against what is known of the notebook.
"""

from . import (
    journey,
    life_is_short,
    overflow,
    sorry_dave_layer,
    sorry_dave_scores,
    wild_cat,
    wild_cat_draws,
)
from .story import Story, Told, figures_of

_FILES = (
    wild_cat,
    overflow,
    wild_cat_draws,
    journey,
    life_is_short,
    sorry_dave_scores,
    sorry_dave_layer,
)
STORIES = {story.name: story for each in _FILES for story in each.STORIES}
"""By name."""


def stories_of(mistake: str) -> tuple[Story, ...]:
    """The stories that are instances of a mistake of the lab; of "", those without a switch."""
    return tuple(story for story in STORIES.values() if story.mistake == mistake)


__all__ = ["STORIES", "Story", "Told", "figures_of", "stories_of"]
