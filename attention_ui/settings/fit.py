"""Which settings fit each other: what is put right, and what is refused in words."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from attention_core.examples import EXAMPLES
from attention_core.recipes import ROLES
from attention_core.small_models.grammar import LONGEST
from attention_core.text.tokenizers import visible

from ..controls.fields import Choice, Sentence, unknown_word
from .choices import MAX_JOINED, MAX_WIDTH
from .settings import HEADS, MAX_TOKENS, SETTINGS, Settings

FOLLOW_THE_TEXT = ("query", "row_query", "token", "changed_token", "decoded")
"""Settings whose start depends on how many tokens there are."""
SENTENCES = {
    name: each.field for name, each in SETTINGS.items() if isinstance(each.field, Sentence)
}
MAKES_TOKENS = {*SENTENCES, "tokenizer", "drop_blanks"}
MAX_TOLD = 4
"""Of more words without a vector only these are named."""
EDITS = [name for name, each in SETTINGS.items() if each.made_by]
"""Settings that hold numbers typed by hand into a table."""


def problem_with_heads(settings: Settings) -> str | None:
    """What stops these settings from making heads, in words; None if nothing does."""
    try:
        settings.heads_recipe  # noqa: B018
    except ValueError as error:
        return f"{error}."
    return None


def heads_that_fit(
    settings: Settings, asked: Mapping[str, int], chosen: Collection[str]
) -> dict[str, int]:
    """The sizes of heads `asked` for, and those of the settings, made to fit each other.

    d_model goes to the next multiple of the heads, and widths down to what fits of so many. Those
    just `chosen` stay, and those that a teacher's link fixes; then there may be no way to fit.
    """
    fixed = {*chosen, *settings.hide, *settings.lock}
    sizes = {name: asked.get(name, getattr(settings, name)) for name in HEADS}
    n_heads = sizes["n_heads"]
    for name in {"d_head", "d_value"} - fixed:
        sizes[name] = min(sizes[name], MAX_JOINED // n_heads)
    if "d_model" not in fixed and 0 in (sizes["d_head"], sizes["d_value"]):
        above = -(-sizes["d_model"] // n_heads) * n_heads
        sizes["d_model"] = above if above <= MAX_WIDTH else above - n_heads
    return sizes


def misfit(settings: Settings) -> str | None:
    """What stops these settings from making a lesson, in words; None if nothing does."""
    trained = EXAMPLES[settings.example].is_trained
    for name, field in SENTENCES.items():
        most = LONGEST if trained and name == "sentence" else field.most_tokens
        if problem := _problem_with_sentence(settings, name, most):
            return problem
    inputs = settings.inputs
    for name, each in SETTINGS.items():
        chosen = getattr(settings, name)
        if isinstance(each.field, Choice) and chosen not in each.values(settings):
            said = f"{each.label}: {each.field.options[chosen]}"
            return f"This example does not go with “{said}”. Choose another."
    if trained and (problem := unknown_word(inputs.tokens[1:])):
        return f"{problem}."
    if settings.vocabulary != "random":
        try:
            inputs.build_vocabulary().ids(inputs.tokens)
        except ValueError as error:
            return f"{error}."
    for name, each in SETTINGS.items():
        if each.table and (edits := getattr(settings, name)):
            table, n_rows, n_columns = each.table(settings)
            if any(row >= n_rows or column >= n_columns for row, column, _ in edits):
                return f"An edited number lies outside {table}."
    return problem_with_heads(settings)


def _problem_with_sentence(settings: Settings, name: str, most: int) -> str | None:
    """What stops a sentence from being tokens, in words; None if nothing does."""
    sentence = getattr(settings, name)
    tokens = replace(settings.inputs, sentence=sentence).tokens
    which = "this text" if name == "sentence" else f"“{SETTINGS[name].label}”"
    begins = which[0].upper() + which[1:]
    if sentence.isspace():
        return f"{begins} holds blanks only. Type at least one word."
    if not tokens:
        return f"There is no token in {which}. Type at least one word."
    if len(tokens) > most:
        return f"{begins} has {len(tokens):,} tokens; at most {most} fit. Shorten it."
    return None


def drawn_instead(settings: Settings) -> str | None:
    """What is drawn at random though the example has it set by hand, or trained, and why; None for
    nothing.
    """
    example = EXAMPLES[settings.example]
    known = [token for token, _ in example.inputs.vectors]
    if not known and not example.is_trained:
        return None
    made = "trained" if example.is_trained else "set by hand"
    inputs = settings.inputs
    if not settings.has_given_vectors:
        has_own_matrices = bool(example.projections.given)
        drawn = "Vectors and matrices are" if has_own_matrices else "The vectors are"
        rows = () if inputs.vocabulary == "random" else inputs.build_vocabulary().rows()
        unknown = [token for token in rows if token not in known]
        if unknown and not example.is_trained:
            told = ", ".join(f"“{visible(token)}”" for token in unknown[:MAX_TOLD])
            why = f"this example has no vector for {told}. It has: {', '.join(known)}"
        elif inputs.d_in != example.inputs.d_in:
            given = "trained" if example.is_trained else "given"
            why = f"the {given} vectors are {example.inputs.d_in} wide"
        else:
            why = "the given vectors belong to distinct tokens"
        return f"{drawn} drawn at random now: {why}."
    recipe, names = replace(settings.projections, seed=None, seeds=(None,) * 3), []
    if recipe.start == "given":
        names = [f"W_{role}" for role in ROLES if recipe.given_for(role, inputs.d_in) is None]
    heads = replace(settings.heads_recipe, seed=None)
    if heads.start == "given" and heads.given_for(inputs.d_in) is None:
        names.append("all matrices of the heads")
    if not names:
        return None
    return (
        f"Drawn at random now: {', '.join(names)}. What was {made} does not fit these sizes. "
        "“Back to the example” brings it back."
    )


def changed(settings: Settings, **updates: object) -> Settings:
    """The settings with some values changed, and what no longer fits put right. An example brings
    all of its own, but for what is fixed.
    """
    if "example" in updates:
        fixed = {name: getattr(settings, name) for name in settings.fixed - {"example"}}
        fresh = replace(Settings.of(EXAMPLES[str(updates["example"])]), **fixed)
        return _fitting(replace(fresh.start_of_own, **fixed))
    for edits in EDITS:
        if SETTINGS[edits].made_by & updates.keys() and edits not in updates:
            updates[edits] = ()
    if {*MAKES_TOKENS, "d_in", "d_out", "d_v", *HEADS} & updates.keys():
        updates = {"cell": None, "upto": MAX_TOKENS, **updates}
    new = replace(settings, **updates)
    if MAKES_TOKENS & updates.keys():
        before, after = settings.start_of_own, new.start_of_own
        for name in FOLLOW_THE_TEXT:
            if name not in updates and getattr(settings, name) == getattr(before, name):
                new = replace(new, **{name: getattr(after, name)})
    return _fitting(new)


def limits(settings: Settings) -> dict[str, tuple[int, str]]:
    """How large settings may be beside the others, and in words what these are."""
    return {name: each.limit(settings) for name, each in SETTINGS.items() if each.limit}


def choices_below(settings: Settings) -> dict[str, int]:
    """For settings that are none of their choices beside the others, and must be: the next choice
    below.
    """
    below = {}
    for name, each in SETTINGS.items():
        value = getattr(settings, name)
        if each.only_choices and value not in (choices := each.values(settings)):
            below[name] = max(choice for choice in choices if choice < value)
    return below


def _fitting(new: Settings) -> Settings:
    """The settings, with those beyond their limits at them: the last token, entry or head."""
    most = {name: limit for name, (limit, _) in limits(new).items()}
    new = replace(new, **{name: min(getattr(new, name), limit) for name, limit in most.items()})
    return replace(new, **choices_below(new))
