"""Build a head: set the numbers of its matrices so that it does something, and see what holds."""

from attention_ui.cards import elements as ui
from attention_ui.cards.common_questions import shape_of_context
from attention_ui.cards.page import Page
from attention_ui.lessons.build_a_head import lesson, words
from attention_ui.picture.equation_parts import NEW_LINE
from attention_ui.picture.matrix import Matrix

page = Page("build_a_head", "context_vectors")
SHAPE = page.ask(
    "shape", lambda trace: shape_of_context(trace, "as wide as a value."), ["context_vectors"]
)


@page.card(
    "head", "The bench", lambda v: f"{lesson.puzzle_of(v).task} Click a number to change it."
)
def head(v, trace):
    yield ui.row(lesson.PUZZLE.at(width=320), lesson.HEAD_SENTENCE.at(width=360), key="makes_head")
    puzzle = lesson.puzzle_of(v)
    one, two = ([Matrix(trace[name]) for name in puzzle.matrices if name.startswith(each)]
                for each in ("W_", "second_"))  # fmt: skip
    shown = [*one, "→", Matrix(trace["weights"])]
    if two:
        shown += [NEW_LINE, *two, "→", Matrix(trace["second_weights"])]
    yield ui.matrices(trace, *shown, tall=440 if two else 250, asks=lesson.asks_first(v))
    (good, told), hidden = lesson.found(v)
    if good is None:
        yield ui.note(f"On your sentence {told}.")
    else:
        yield ui.light(good, f"**On your sentence**: {told}.")
    yield ui.light(all(good for good, _ in hidden), words.hidden_words(v))
    yield from help_with(v, puzzle)


def help_with(v, puzzle):
    """Hints one by one, the answer last; and what comes next."""
    for at, each in enumerate(puzzle.hints[: v.hints]):
        yield ui.say(f":material/lightbulb: **Hint {at + 1}.** {each}")
    is_solved = lesson.is_solved(v)
    if is_solved:
        yield ui.say(f":green[:material/check_circle:] **Solved.** {puzzle.why}")
    buttons = []
    if not is_solved and v.hints < len(puzzle.hints):
        label = "Give me a hint" if not v.hints else "Another hint"
        buttons.append(ui.set_to(label, "hint", {"type": "secondary"}, hints=v.hints + 1))
    elif not is_solved:
        answer = {"hints": len(puzzle.hints) + 1, **lesson.settings_of(puzzle.answer)}
        buttons.append(ui.set_to("Show me the answer", "answer", {"type": "secondary"}, **answer))
    names = [*lesson.BY_NAME]
    for after in names[names.index(v.puzzle) + 1 :][:1]:
        label = "Next puzzle" if is_solved else "Another puzzle"
        buttons.append(ui.set_to(label, "next", {"type": "secondary"}, puzzle=after))
    yield ui.row(*buttons, key="helps", gap="small") if buttons else ui.say("")
    if puzzle.has_two_heads:
        yield ui.link_to("heads_learning", "Watch heads learn this by themselves")


@page.card(
    "words",
    "What each word is",
    "The vector of each token: what it is, what every word has (`always`), what only the first one "
    "has (`first`), its **place** and its **name**. These two are hands of a clock, each given by "
    "its x and y: equal hands mean equal places, or equal words.",
)
def vectors(trace):
    yield ui.matrices(trace, Matrix(trace["embeddings"]), tall=300)


@page.card(
    "scores",
    "From numbers to scores",
    "Each token’s vector times `W_query` is what it asks for, times `W_key` what it is found by. "
    "Their dot products are the scores; what comes later is hidden.",
)
def scores(trace):
    keys = Matrix(trace["keys"], transposed=True, title="keysᵀ")
    parts = Matrix(trace["queries"]), "·", keys, "=", Matrix(trace["scores"])
    yield ui.matrices(trace, *parts, tall=266)


@page.card(
    "context",
    "What it hands on",
    "The weights mix the values, and a value is a token’s vector times `W_value`.",
    ask=SHAPE,
)
def context(trace):
    yield ui.matrices(trace, trace["context_vectors"], tall=266)


@page.card(
    "second",
    "The second head",
    "Its keys are made of what the first head hands on, so each token is found by the word that "
    "came before it.",
    when=lambda v: lesson.puzzle_of(v).has_two_heads,
)
def second(trace):
    keys = Matrix(trace["second_keys"], transposed=True, title="second_keysᵀ")
    parts = Matrix(trace["second_queries"]), "·", keys, "=", Matrix(trace["second_scores"])
    yield ui.matrices(trace, *parts, tall=266)


page.answers(words.what_makes_it_look, words.does_it_hold, words.who_sets_them, again=False)
page.show()
