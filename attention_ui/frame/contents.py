"""The list of lessons: one entry a page. Adding a lesson is adding its file and its line here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """A page: its file, its title, the one sentence that says its idea, and its place; about how
    many minutes it takes, and the name of the lesson to read before it, where these are known.
    Raises ValueError for other minutes than 0 (not known) or 5 to 12.
    """

    name: str
    title: str
    idea: str
    group: str
    icon: str
    minutes: int = 0
    after: str = ""
    room: str = ""
    """The lesson whose room it shares, where it is another way into the same; "" for its own."""
    module: str = "lesson"
    """The module of its room that has its controls and its trace."""

    def __post_init__(self) -> None:
        if self.minutes not in (0, *range(5, 13)):
            raise ValueError(
                f"{self.name} takes {self.minutes} minutes, but a lesson takes 5 to 12; leave "
                "`minutes` out where that is not known"
            )

    @property
    def page(self) -> str:
        """The file as Streamlit wants it, from the folder of app.py."""
        return f"pages/{self.name}.py" if self.group else "app.py"


HOME = Lesson("home", "Attention Explorer", "", "", ":material/home:")
LESSONS = (
    Lesson(
        "whole_layer",
        "The whole layer",
        "Each token asks (query), every token can be found (key): the better the two match, the "
        "more of that token's value enters the context. This is the map of all lessons: point at "
        "anything to see its way.",
        "At a glance",
        ":material/schema:",
        minutes=5,
    ),
    Lesson(
        "tokenize_and_embed",
        "Tokenize and embed",
        "How does a sentence become numbers? It is cut into tokens, each token gets an id, and "
        "each id picks a row of a table: a vector that can be compared with others.",
        "The mechanism",
        ":material/text_fields:",
        minutes=6,
    ),
    Lesson(
        "simplified_attention",
        "Simplified attention",
        "How does a word decide which others matter? It compares its vector with everyone's, its "
        "own included. Vectors that point the same way score above 0, opposed ones below, and long "
        "ones farther from 0. The higher the score, the more of that word flows in.",
        "The mechanism",
        ":material/visibility:",
        minutes=8,
        after="tokenize_and_embed",
    ),
    Lesson(
        "softmax_or_sum",
        "Softmax or sum",
        "How do scores become shares of a whole? Dividing each by their sum looks simplest, and "
        "breaks when scores are negative. Softmax takes e to the power of each score first.",
        "The mechanism",
        ":material/balance:",
        minutes=8,
        after="simplified_attention",
    ),
    Lesson(
        "divide_by_sqrt_d",
        "Why divide by √d",
        "Why √d, and not d or nothing? A score is a sum of d products. The wider the vectors, the "
        "farther such sums spread, and softmax turns scores that spread far into all or nothing. "
        "Dividing by √d undoes just that.",
        "The mechanism",
        ":material/swap_vert:",
        minutes=7,
        after="softmax_or_sum",
    ),
    Lesson(
        "queries_keys_values",
        "Queries, keys and values",
        "What does a word ask for, and who answers? Three matrices make what each token asks for, "
        "what it can be found by, and what it hands on. Training changes their entries.",
        "The mechanism",
        ":material/tune:",
        minutes=12,
        after="divide_by_sqrt_d",
    ),
    Lesson(
        "causal_mask",
        "The causal mask",
        "How does a model keep from looking ahead? While it learns, the word that it should "
        "predict stands in the sentence, to be copied; a mask hides it. To see the mask alone, the "
        "embeddings themselves serve as queries, keys and values here.",
        "The mechanism",
        ":material/visibility_off:",
        minutes=8,
        after="queries_keys_values",
    ),
    Lesson(
        "multi_head_attention",
        "Multi-head attention",
        "Why several heads? Each looks at the same sentence with matrices of its own, so each can "
        "look for something else. What they find is joined, and one more matrix mixes it.",
        "The mechanism",
        ":material/view_column:",
        minutes=12,
        after="queries_keys_values",
    ),
    Lesson(
        "how_a_matrix_learns",
        "How a matrix learns",
        "Why does one entry of W_query go up, and not down? A loss says how far the layer is from "
        "a wish, and each number gets a gradient: by how much the loss rises when it rises.",
        "The mechanism",
        ":material/trending_down:",
        minutes=12,
        after="multi_head_attention",
    ),
    Lesson(
        "cross_attention",
        "Cross-attention",
        "How can a text use what stands in another one? Each of its words asks, and the words of "
        "the other, the source, answer: queries come from one, keys and values from the other.",
        "The mechanism",
        ":material/sync_alt:",
        minutes=7,
        after="queries_keys_values",
    ),
    Lesson(
        "tiny_language",
        "A tiny language",
        "What does a trained head do? A small network learned a language of 60 words. Give it a "
        "beginning: see what it says next and which head brought it, and switch a head off.",
        "Trained heads",
        ":material/translate:",
        minutes=8,
        after="multi_head_attention",
    ),
    Lesson(
        "heads_learning",
        "Watch heads learn",
        "How does a head learn what it does? Nobody tells it. A small network guesses the next "
        "letter in random rows that begin to repeat. For a while it fails; then its heads find out "
        "how.",
        "Trained heads",
        ":material/model_training:",
        minutes=8,
        after="multi_head_attention",
    ),
    Lesson(
        "transformer_block",
        "The transformer block",
        "What surrounds attention in a real model? A stream of numbers for each token: attention "
        "adds to it, a small network adds to it, and layer norm brings numbers back to one size.",
        "Inside real models",
        ":material/waves:",
        minutes=10,
        after="multi_head_attention",
    ),
    Lesson(
        "attention_today",
        "The attention of today",
        "What has changed in attention since 2017? Models share keys among heads, turn vectors by "
        "position, look through a window, and keep what they have computed. Switch each on or off.",
        "Inside real models",
        ":material/memory:",
        minutes=12,
        after="multi_head_attention",
    ),
    Lesson(
        "flash_attention",
        "Flash attention",
        "How can attention do without its table of weights? It goes through keys and values tile "
        "by tile, keeps a running maximum, sum and output for each query, and comes to the same "
        "context vectors with far fewer bytes moved.",
        "Inside real models",
        ":material/grid_view:",
        minutes=9,
        after="causal_mask",
    ),
    Lesson(
        "real_model",
        "A real model",
        "What do the heads of a real language model look at? Give it a text of yours, see all its "
        "heads at once, and follow any of them down to its numbers.",
        "Inside real models",
        ":material/neurology:",
        minutes=12,
        after="tiny_language",
    ),
    Lesson(
        "mistakes_lab",
        "The mistakes lab",
        "What goes wrong in attention code, and how would you notice? Switch on one mistake at a "
        "time: most of them run, have the right shape, and rows that sum to 1.",
        "Mistakes and numbers",
        ":material/bug_report:",
        minutes=8,
        after="multi_head_attention",
    ),
    Lesson(
        "diagnosis",
        "Find the mistake",
        "Can you tell from the numbers alone what is wrong? A mistake is switched on, and nobody "
        "says which. Look at the lights and the tensors, and name it.",
        "Mistakes and numbers",
        ":material/search:",
        minutes=10,
        after="mistakes_lab",
        room="mistakes_lab",
        module="game",
    ),
    Lesson(
        "notebooks_numbers",
        "The notebooks' numbers",
        "Does this app compute what the notebooks print? Five published notebooks, result by "
        "result: all that can be computed is computed again and set beside the print.",
        "Mistakes and numbers",
        ":material/fact_check:",
        minutes=5,
    ),
)
GROUPS = [*dict.fromkeys(each.group for each in LESSONS)]
LESSONS = tuple(sorted(LESSONS, key=lambda each: GROUPS.index(each.group)))
AT_A_GLANCE, FIRST_CHECKED = LESSONS[:2]
"""Where a sentence of one's own opens, and where a published example does: the first lesson whose
numbers its notebook prints."""

SECTIONS = {
    "contents": "Contents, previous and next",
    "glossary": "Glossary",
    "pin": "Pin and compare",
    "share": "Share",
    "answers": "What you can now answer",
    "take_away": "Take it with you",
}
"""What a teacher's link can leave out beside controls."""


def lesson(name: str) -> Lesson:
    """A lesson by the name of its file; raises KeyError for one that is not in the list."""
    return {each.name: each for each in (HOME, *LESSONS)}[name]
