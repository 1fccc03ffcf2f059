"""What the five notebooks got wrong: their stories give the figures that are known of them."""

import re
import string
import tomllib
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
import torch

from attention_core.examples import EXAMPLES
from attention_core.mistakes.switched import MISTAKES
from attention_core.published.building import BUILDERS
from attention_core.published.measures import naive_softmax
from attention_core.published.stories import STORIES, Story, figures_of, plain, stories_of

KNOWN = tomllib.loads(Path(__file__).with_name("known_figures.toml").read_text(encoding="utf-8"))
ALSO = {name: figures.pop("also") for name, figures in KNOWN.items() if "also" in figures}
LINES = {name: [(figure, *each.split()) for figure, each in f.items()] for name, f in KNOWN.items()}
WORDS = string.Formatter()
LEFT_OUT = {
    "undefined_name": "no number can show it",
    "cross_attention_roles": "nothing is known in numbers",
    "formula_typo": "nothing is known in numbers",
    "stability_statement": "nothing is known in numbers",
    "inputs_in_module": "it is about names, and told below",
}


@pytest.mark.parametrize("name", STORIES)
def test_a_story_gives_the_figures_that_are_known(name):
    assert (name in LINES) == (name not in LEFT_OUT)
    story = STORIES[name]
    figures = figures_of(replace(story, figures=f"{story.figures}\n{ALSO.get(name, '')}"))
    for which, first, *rest in LINES.get(name, ()):
        figure = plain(figures[which])
        if first == "=":
            assert figure == " ".join(rest), which
        elif first == "<":
            assert abs(figure) < float(rest[0]), which
        else:
            numbers = figure if isinstance(figure, list) else [figure]
            assert len(numbers) == 1 + len(rest), which
            for number, digits in zip(numbers, (first, *rest), strict=True):
                if digits == "?":
                    continue
                half_a_unit = 0.5 * 10.0 ** Decimal(digits).as_tuple().exponent * 1.0001
                slack = 0 if isinstance(number, int) else half_a_unit
                assert abs(number - float(digits)) <= slack, (
                    f"{which}: {number} in place of {digits}"
                )


def test_there_is_a_story_for_each_of_38_things_and_every_line_above_has_one():
    assert len(STORIES) == 38
    assert {*LINES, *LEFT_OUT} == set(STORIES)


@pytest.mark.parametrize("story", STORIES.values(), ids=list(STORIES))
def test_a_story_is_told_with_computed_numbers(story):
    for template in (story.wrong, story.right):
        words = "".join(text for text, *_ in WORDS.parse(template))
        assert not re.search(r"\d[.,]\d|\d{3}|e-\d", words), words
    told = story.told()
    assert all(told)
    assert not re.search(r"[{}]|tensor\(", "".join(told))
    assert "!" not in "".join((*told, story.title))


@pytest.mark.parametrize("story", STORIES.values(), ids=list(STORIES))
def test_every_figure_is_told_or_another_figure_needs_it(story):
    told = {name for text in (story.wrong, story.right) for _, name, *_ in WORDS.parse(text)}
    names = set(re.findall(r"(?m)^(\w+) =", story.figures))
    needed = {name for name in names if re.search(rf"[^\w.]{name}\b(?! ?[(=])", story.figures)}
    assert names - needed <= told <= names | {None}


def test_softmax_as_its_formula_says_ends_where_the_story_says():
    said = figures_of(STORIES["naive_softmax_overflow"])
    row = BUILDERS["simplified"](EXAMPLES["wild_cat"], None)["scores"].value[0]
    equal = torch.ones(said["n_keys"])
    for scores, is_lost in (
        (equal * said["all_zero"], lambda weights: (weights == 0).all()),
        (equal * said["all_nan"], lambda weights: weights.isnan().all()),
        (equal * said["too_small"], lambda weights: weights.isnan().all()),
        (row * said["factor"], lambda weights: weights.isnan().any()),
    ):
        assert not is_lost(naive_softmax(scores * 0.9999))
        assert is_lost(naive_softmax(scores * 1.0001))


@pytest.mark.parametrize("story", STORIES.values(), ids=list(STORIES))
def test_the_mistake_of_a_story_can_be_switched_on_in_its_example(story):
    example = EXAMPLES[story.example]
    if story.mistake:
        assert MISTAKES[story.mistake].why_not(example.inputs, example.heads) == ""
        assert story in stories_of(story.mistake)


def test_a_figure_is_written_as_a_sentence_has_it():
    figures = "one = -0.00004; several = [1.25, -2.5]; count = 3072; words = '8x8'"
    template = "{one:.4f}; {several:.2f}; {several:.1f|, }; {count}; {words}"
    story = Story("", "", "wild_cat", template, "", figures)
    assert story.told().wrong == "0.0000; 1.25 and −2.50; 1.2, −2.5; 3,072; 8x8"
