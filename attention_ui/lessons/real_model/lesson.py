"""A real model: its controls, and what follows from their values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from attention_core.operations import Given
from attention_core.real_model.layer_trace import layer_trace
from attention_core.real_model.measures import MEASURES
from attention_core.real_model.model import Model
from attention_core.real_model.run import check_ids, run
from attention_core.real_model.tokenizer import Encoded, Tokenizer
from attention_core.text.tokenizers import visible
from attention_core.trace import Step, Trace
from attention_core.utils.head_name import head_id, head_name

from ...controls.shared import EXAMPLE, MAX_SEED, seed_of
from ...frame.models import (
    DRAWN,
    MOST_ALONE,
    SMOL,
    TINY,
    a_text,
    cannot_read,
    choices,
    encoded,
    first,
    most_read,
    opened,
    why_refused,
)
from ...picture.matrix import Matrix
from ...picture.sentence import WORD
from ...reactive.control import Control, Values
from ...reactive.fields import Choice, Decimal, Whole
from . import recorded
from .own_fields import NAME, Ids, Next, Parts, Prompt, changes_of
from .running import About, at_hand
from .seen import Seen
from .write_chart import MIN_PS, TEMPERATURES, TOP_KS, TOP_PS

PASS = "real_model"
"""The run of the whole model on the text, which all of the page waits for."""
MOST_COMPONENTS = 16
"""So many of a query's and a key's numbers are drawn: of 64, each would be a sliver."""
STARTS = {
    SMOL: "When Mary and John went to the store, John gave a drink to",
    TINY: "the tired cat sees the dog because it",
}
OTHERS = {
    SMOL: "When John and Mary went to the store, Mary gave a drink to",
    TINY: "the tired cat sees the dog but it",
}
"""What is patched in from, until another text is typed: the same with one thing exchanged."""
PAIRS = {SMOL: ("Mary", "John"), TINY: ("purrs", "barks")}
"""The two tokens between which each of our models has to choose on its own text."""
LAST, STRONGEST, ANSWER = "last", "strongest", "answer"
FIRST_MEASURE = "previous"
MEASURE_NAMES = Choice({name: measure.name for name, measure in MEASURES.items()})


def _fits(text: str, values: Values) -> str | None:
    return cannot_read(model_of(values), text)


def _can_follow(ids: tuple[int, ...], values: Values) -> str | None:
    """What keeps tokens from standing behind the text, in words."""
    model = model_of(values)
    if ids and not model.settings.predicts:
        return f"{model.name} says no next token, so nothing can be written behind the text"
    try:
        check_ids(replace(model.settings, longest=None), (0, *ids))
    except ValueError as error:
        return f"{error}"
    return None


def _have_room(ids: tuple[int, ...], values: Values) -> tuple[tuple[int, ...], str]:
    """As many written tokens as there is room for, and what is said where these are not all."""
    model = model_of(values)
    n_own, most = len(encoded(model.tokenizer, values.prompt).ids), most_read(model)
    kept = ids[: max(0, most - n_own)]
    if kept == ids:
        return ids, ""
    return kept, (
        f"text has {n_own + len(ids)} tokens, {len(ids)} of them written, and at most {most} fit: "
        f"the first {len(kept)} that were written are kept."
    )


def _start(texts: Mapping[str, str]) -> Callable[[Values], str]:
    """The text for each model; for a person's own the first that it can read, or one word."""

    def found(values: Values) -> str:
        if values.model in texts:
            return texts[values.model]
        ours = (text for text in texts.values() if not _fits(text, values))
        return next(ours, None) or a_text(model_of(values))

    return found


def _tokens(values: Values) -> dict[str, str]:
    pieces = map(visible, encoded_of(values).pieces)
    return {LAST: "the last token"} | {f"{at}": f"{at}: {piece}" for at, piece in enumerate(pieces)}


def _keys(values: Values) -> dict[str, str]:
    _, *each = _tokens(values).items()
    seen = each[: query_of(values) + 1] if model_of(values).settings.causal else each
    return {STRONGEST: "the strongest", **dict(seen)}


def _heads(values: Values) -> dict[str, str]:
    settings = model_of(values).settings
    each = [(n, h) for n in range(settings.n_layers) for h in range(settings.n_heads)]
    answer = {ANSWER: "brought the answer"} if settings.predicts else {}
    return {
        **answer,
        STRONGEST: "the strongest by measure",
        **{head_id(*one): head_name(one[1], one[0]) for one in each},
    }


def _opens_on(values: Values) -> str:
    """The head that brought the answer; by another measure than the first, who does most of it."""
    is_first = values.measure == FIRST_MEASURE and model_of(values).settings.predicts
    return ANSWER if is_first else STRONGEST


def _are_there(written: str, values: Values) -> str | None:
    try:
        changes_of(written).check(model_of(values).settings, len(encoded_of(values).ids))
    except ValueError as error:
        return f"{error}"
    return None


def _is_one(word: str, values: Values) -> str | None:
    """What keeps a word from being the next token, in words."""
    if word and model_of(values).tokenizer.next_id(word) is None:
        return f"“{visible(word)}” is not one token of this model"
    return None


MODEL = Control(
    "model",
    NAME,
    "Model",
    lambda _: first(),
    options=lambda _: choices(),
    check=lambda name, _: why_refused(name) or None,
    undoes=(
        *("prompt", "written_ids", "model_head", "looks_from", "looks_at"),
        *("model_off", "asked_token", "against_token", "other_prompt", "section", "cell"),
    ),
)
PROMPT = Control(
    "prompt",
    Prompt(),
    "Your text",
    _start(STARTS),
    widget="text_area",
    check=_fits,
    look={"height": 72, "help": "Ctrl+Enter (⌘+Enter on a Mac), or a click elsewhere, reads it."},
    undoes=(
        *("written_ids", "looks_from", "looks_at", "section", "cell"),
        *("model_off", "asked_token", "against_token"),
    ),
)
WRITTEN_IDS = Control(
    "written_ids", Ids(MOST_ALONE), "Tokens written behind your text", (), check=_can_follow,
    fits=_have_room, undoes=("looks_from", "looks_at", "section", "cell"),
)  # fmt: skip
NEXT_TEMPERATURE = Control(
    "next_temperature", Decimal.among(*TEMPERATURES), "temperature", 1.0, shown="{:.1f}"
)
NEXT_TOP_K = Control(
    "next_top_k", Whole(0, max(TOP_KS), TOP_KS), "top-k", 0,
    options=lambda _: {each: f"{each}" if each else "all" for each in TOP_KS},
)  # fmt: skip
TOP_P = Control("top_p", Decimal.among(*TOP_PS), "top-p", 0.9, shown="{:.2f}")
MIN_P = Control("min_p", Decimal.among(*MIN_PS), "min-p", 0.0, shown="{:.2f}")
NEXT_SEED = seed_of(
    "next_seed",
    "Seed of the draw",
    1,
    look={"help": f"Another seed, another number: a whole number from 0 to {MAX_SEED:,}."},
)
SLIDERS = (NEXT_TEMPERATURE, NEXT_TOP_K, TOP_P, MIN_P)
DRAWS = (*SLIDERS, NEXT_SEED)
"""How the next token is drawn."""
MEASURE = Control("measure", MEASURE_NAMES, "Mark the heads by", FIRST_MEASURE)
HEADS_ORDER = Control(
    "heads_order",
    Choice({"layers": "by layer", "strongest": "strongest first"}),
    "Order",
    "layers",
    widget="selectbox",
)
HEADS_FROM = Control(
    "heads_from",
    Whole(0, 90, options=tuple(range(0, 100, 10))),
    "Share of at least",
    0,
    widget="selectbox",
    shown="{:g}%",
)
MODEL_HEAD = Control(
    "model_head",
    NAME,
    "Head (layer.head)",
    _opens_on,
    options=_heads,
    undoes=("looks_at", "section", "cell"),
)
LOOKS_FROM = Control(
    "looks_from", NAME, "Where it looks from", LAST, options=_tokens, undoes=("looks_at",)
)
LOOKS_AT = Control("looks_at", NAME, "The token it looks at", STRONGEST, options=_keys)
MODEL_OFF = Control(
    "model_off",
    Parts(),
    "Switch off",
    "",
    widget="text_input",
    hint="such as 1.2, attention 1, token 1",
    check=_are_there,
    look={
        "help": "Heads as layer.head; the attention or the feed-forward of a layer, as attention "
        "1 or feed-forward 1; a token by its place, which no other token sees then."
    },
)
ASKED_TOKEN, AGAINST_TOKEN = (
    Control(name, Next(), label, "", "text_input", check=_is_one, look={"placeholder": otherwise})
    for name, label, otherwise in (
        ("asked_token", "Next token", "the likeliest"),
        ("against_token", "Compared with", "nothing"),
    )
)
OTHER_PROMPT = Control(
    "other_prompt",
    Prompt(),
    "Another text, of as many tokens",
    _start(OTHERS),
    widget="text_input",
    check=_fits,
)
SURVEY_ACROSS = Control("survey_across", MEASURE_NAMES, "Measure across", "previous")
SURVEY_UP = Control("survey_up", MEASURE_NAMES, "Measure upwards", "induction")
CONTROLS = (
    *(EXAMPLE, MODEL, PROMPT, WRITTEN_IDS, *DRAWS),
    *(MEASURE, HEADS_ORDER, HEADS_FROM, MODEL_HEAD, LOOKS_FROM),
    *(LOOKS_AT, MODEL_OFF, ASKED_TOKEN, AGAINST_TOKEN, OTHER_PROMPT),
    *(SURVEY_ACROSS, SURVEY_UP),
    *recorded.CONTROLS,
)


def model_of(values: Values) -> Model:
    """The model that is looked into."""
    return opened(values.model)


def encoded_of(values: Values) -> Encoded:
    """The text in the model's own tokens, and what was written behind it."""
    return _with_written(model_of(values).tokenizer, values.prompt, values.written_ids)


@lru_cache(maxsize=64)
def _with_written(tokenizer: Tokenizer, prompt: str, ids: tuple[int, ...]) -> Encoded:
    text = encoded(tokenizer, prompt)
    return tokenizer.with_ids(text, ids) if ids else text


def whole(values: Values) -> About:
    """The run of the whole model."""
    return model_of(values), encoded_of(values).ids, ""


def seen(values: Values) -> Seen | None:
    """The run of the whole model, as soon as it is there."""
    return at_hand(PASS, whole(values))


def changed(values: Values) -> About:
    """The run of what is left of it."""
    return model_of(values), encoded_of(values).ids, values.model_off


def other(values: Values) -> About:
    """The run of the other text, which is patched in, with the same written behind it."""
    model = model_of(values)
    return model, (*encoded(model.tokenizer, values.other_prompt).ids, *values.written_ids), ""


def predicts(v: Values) -> bool:
    """Whether the model says a next token."""
    return model_of(v).settings.predicts


def scores_by(name: str, reading: Seen) -> Tensor:
    """How much each head does of what a measure measures (layer, head); 0 without a place."""
    measure, run = MEASURES[name], reading.run

    def taken() -> Tensor:  # a layer at a time: of a long text, one after the other fits
        return torch.stack([measure.of(each, run.ids) for each in run.weights]).nan_to_num()

    return reading.once(("scores", name), taken)


def query_of(values: Values) -> int:
    """The place of the token whose looks are shown."""
    last = len(encoded_of(values).ids) - 1
    return last if values.looks_from == LAST else int(values.looks_from)


def drawn_of(values: Values) -> range:
    """The tokens of which each number is drawn: all, or of a long text those up to the query."""
    n_tokens, query = len(encoded_of(values).ids), query_of(values)
    ahead = 0 if model_of(values).settings.causal else DRAWN // 2
    stop = min(n_tokens, max(query + 1 + ahead, DRAWN))
    return range(max(0, stop - DRAWN), stop)


def head_of(values: Values, reading: Seen) -> tuple[int, int]:
    """The layer and the head looked at: the one chosen, or that brought most, or does most."""
    if values.model_head == ANSWER:
        best = reading.brought(asked_of(values, reading)[0], rival_of(values, reading)).heads[0]
        return best.layer, best.head
    if values.model_head != STRONGEST:
        layer, head = map(int, values.model_head.split("."))
        return layer, head
    scores = scores_by(values.measure, reading)
    return divmod(int(scores.argmax()), scores.shape[-1])


def asked_of(values: Values, reading: Seen) -> tuple[int, int | None]:
    """The token whose logit is taken apart, and the one that it is compared with, if any."""
    next_id = reading.run.model.tokenizer.next_id
    asked = next_id(values.asked_token) if values.asked_token else None
    if asked is None:
        asked = int(reading.chances.argmax())
    against = next_id(values.against_token) if values.against_token else None
    return asked, None if against == asked else against


def rival_of(values: Values, reading: Seen) -> int | None:
    """What the asked token is set beside: the compared one, our pair’s other, or the likeliest."""
    asked, against = asked_of(values, reading)
    if against is not None:
        return against
    next_id = reading.run.model.tokenizer.next_id
    pair = [next_id(word) for word in PAIRS.get(values.model, ())]
    is_start = values.prompt == STARTS.get(values.model) and not values.written_ids
    is_ours = is_start and asked in pair
    likeliest = reading.chances.topk(min(2, len(reading.chances))).indices.tolist()
    others = (pair if is_ours else []) + likeliest
    return next((each for each in others if each is not None and each != asked), None)


def trace_of(values: Values) -> Trace:
    """The lesson's trace: attention of the layer looked at, from the stream that it reads. Of a
    longer text it holds all keys that a drawn query looks at, drawn or not.
    """
    reading = seen(values) or Seen(run(model_of(values), encoded_of(values).ids))
    (layer, _), pieces = head_of(values, reading), encoded_of(values).pieces
    model = reading.run.model
    stop = drawn_of(values).stop if model.settings.causal else len(pieces)
    stream = reading.run.before[layer, :stop].clone()  # without those of all other layers
    return layer_trace(model, stream, layer, pieces[:stop], parts="attention")


@dataclass(frozen=True)
class OfHead:
    """What is drawn of one head: its matrices, of the tokens that are drawn."""

    trace: Trace
    head: int
    drawn: range
    asked: int
    """The place of the token whose looks are drawn."""

    @property
    def n_components(self) -> int:
        """How many numbers its queries and keys have."""
        return self.trace["head_scores"].inputs[0].value.shape[-1]

    @cached_property
    def components(self) -> tuple[int, ...] | None:
        """Those that make most of the query's scores, the most first; None where all are drawn. Of
        queries and keys (head, token, d_head) the sum over keys of |query · key|, by component.
        """
        if self.n_components <= MOST_COMPONENTS:
            return None
        queries, keys = (each.value[self.head] for each in self.trace["head_scores"].inputs)
        amounts = (queries[self.asked] * keys).abs().sum(dim=0)
        return tuple(amounts.topk(MOST_COMPONENTS).indices.tolist())

    def _matrix(
        self, step: Step, title: str | None = None, columns: tuple[int, ...] | None = None
    ) -> Matrix:
        places = None if len(self.drawn) == self.trace.size("key") else tuple(self.drawn)
        columns = places if step.axes[-1] == "key" else columns
        asked = self.asked - self.drawn.start
        look = {"lead": (self.head,), "title": title, "asked": asked}
        return Matrix(step, rows=places, columns=columns, **look)

    @property
    def weights(self) -> Matrix:
        """Its weights."""
        return self._matrix(self.trace["head_weights"], "weights")

    def compares(self) -> tuple[Matrix | str, ...]:
        """How it comes to its weights: each query with each key, divided, hidden, softmax."""
        scores = self.trace["head_scores"]
        queries, keys = (
            self._matrix(each, title, self.components)
            for each, title in zip(scores.inputs, ("queries", "keys"), strict=True)
        )
        return queries, "· each", keys, "=", self._matrix(scores, "scores"), "→", self.weights

    def gathers(self) -> tuple[Matrix | str, ...]:
        """What it gathers: its weights times the values."""
        contexts = self.trace["head_context_vectors"]
        values = self._matrix(contexts.inputs[1], "values")
        return self.weights, "·", values, "=", self._matrix(contexts, "what it gathers")


def key_of(values: Values, reading: Seen) -> int:
    """The key that is asked about: the one that is chosen, or the one that gets most weight."""
    if values.looks_at != STRONGEST:
        return int(values.looks_at)
    return int(reading.run.weights[(*head_of(values, reading), query_of(values))].argmax())


def word_clicked(place: tuple[str, tuple[int, ...]]) -> dict[str, str]:
    """What a click on a word of the sentence chooses: the key that is asked about."""
    step, index = place
    return {"looks_at": str(index[0])} if step == WORD else {}


def chosen_of(values: Values) -> tuple[int, int]:
    """The layer and the head that are looked at."""
    return head_of(values, seen(values))


def drawn_of_head(values: Values, trace: Trace) -> OfHead:
    """What is drawn of it."""
    return OfHead(trace, chosen_of(values)[1], drawn_of(values), query_of(values))


def lens_trace(values: Values) -> Trace:
    """For a question on the layers: how likely each layer makes the last token's next ones."""
    trace, reading = Trace(), seen(values)
    chances = reading.lens.chances.view(reading.run.model.settings.n_layers + 1, -1)[:, -1]
    trace.step("lens", Given.of(chances), axes=("layer",))
    return trace
