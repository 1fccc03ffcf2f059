"""The list of lessons: one entry a page. Adding a lesson is adding its file and its line here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """A page: its file, its title, the one sentence that says its idea, and its place."""

    name: str
    title: str
    idea: str
    group: str
    icon: str

    @property
    def page(self) -> str:
        """The file as Streamlit wants it, from the folder of app.py."""
        return f"pages/{self.name}.py" if self.group else "app.py"


HOME = Lesson("home", "Attention Explorer", "", "", ":material/home:")
LESSONS = (
    Lesson(
        "whole_layer",
        "The whole layer",
        "From tokens to output on one screen. Point at anything: where does it come from, and "
        "where does it go?",
        "At a glance",
        ":material/schema:",
    ),
    Lesson(
        "tokenize_and_embed",
        "Tokenize and embed",
        "A sentence becomes tokens, each token a number, and each number the row of a table: "
        "a vector that a computer can compare.",
        "From text to vectors",
        ":material/text_fields:",
    ),
    Lesson(
        "simplified_attention",
        "Simplified attention",
        "Each token looks at every token, itself included, by a dot product of their embeddings. "
        "The larger the product, the more of that token's vector flows into the context vector.",
        "The mechanism",
        ":material/visibility:",
    ),
    Lesson(
        "softmax_or_sum",
        "Softmax or dividing by the sum",
        "Scores become weights by dividing: each score by the sum of all, or, in a softmax, each "
        "exponential by the sum of all exponentials. The first looks simpler, and breaks.",
        "The mechanism",
        ":material/balance:",
    ),
    Lesson(
        "divide_by_sqrt_d",
        "Why divide by √d",
        "A score is a sum of d products. The wider the vectors, the farther such sums spread, and "
        "softmax turns scores that spread far into all or nothing. Dividing by √d undoes the "
        "effect of the width.",
        "The mechanism",
        ":material/swap_vert:",
    ),
    Lesson(
        "queries_keys_values",
        "Trainable queries, keys and values",
        "Before tokens are compared, three matrices make what each asks for, what it can be found "
        "by, and what it hands on. Training changes the entries of these matrices.",
        "The mechanism",
        ":material/tune:",
    ),
    Lesson(
        "causal_mask",
        "The causal mask",
        "A model that writes text from left to right must not look ahead. A mask hides the future "
        "from every query before the weights are shared out.",
        "The mechanism",
        ":material/visibility_off:",
    ),
    Lesson(
        "multi_head_attention",
        "Multi-head attention",
        "Several attentions look at the same sentence side by side, each with matrices of its own. "
        "Their context vectors are joined, and one more matrix mixes them.",
        "The mechanism",
        ":material/view_column:",
    ),
)
AT_A_GLANCE, FIRST_CHECKED = LESSONS[:2]
"""Where a sentence of one's own opens, and where a published example does: the first lesson whose
numbers its notebook prints."""


def lesson(name: str) -> Lesson:
    """A lesson by the name of its file; raises KeyError for one that is not in the list."""
    return {each.name: each for each in (HOME, *LESSONS)}[name]
