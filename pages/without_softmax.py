"""Without softmax: a memory in the place of a list of keys and values."""

from attention_core.mistakes.rewriting import rewritten_each
from attention_core.operations import Shift
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.controls.shared import numbered_tokens
from attention_ui.lessons.without_softmax import lesson, words
from attention_ui.picture.layout import titled
from attention_ui.picture.matrix import Matrix

page = Page("without_softmax", output="read_vectors")


@page.card(
    "brackets",
    "Move the brackets",
    "Leave softmax out, and attention is QKᵀV. (QKᵀ)V makes a table of all pairs, **Q(KᵀV)** a "
    "**memory**, from which each query reads: **linear attention**. Here, every query and every "
    "key has length 1.",
)
def brackets(trace):
    table = Matrix(trace["scores"], title="QKᵀ"), "·", Matrix(trace["values"], title="V")
    queries = Matrix(trace["unit_queries"], title="Q")
    memory = "·", Matrix(trace["whole_memory"], title="KᵀV")
    made = (*table, "=", Matrix(trace["by_scores"], title="QKᵀV"), "=", queries, *memory)
    yield ui.matrices(trace, *made, tall=180)
    good, told = lesson.brackets_agree(trace)
    yield ui.light(good, f"{told} {words.sizes_words(trace)}")


@page.card(
    "written",
    "Write, then read",
    "**Token by token**: each writes its value into every row of the memory, as strongly as its "
    "key says (an outer product). Its query reads a weighted sum of the rows. Later "
    "tokens are not in it yet: no mask needed.",
)
def written(v, trace):
    def at(token):
        made = ui.equation(trace, *lesson.written_now(trace, int(token)), tall=235)
        return titled(made, f"Token {called[int(token)]}")

    called = numbered_tokens(v)
    yield ui.row(ui.in_picture(lesson.WRITTEN, width=300, told=False), lesson.MEMORY_RULE.at())
    yield ui.moving(lesson.WRITTEN, at)


@page.card(
    "who",
    "Who read from whom",
    "Give each token a value with a single 1, in a column of its own, and what a query reads tells "
    "how much comes from whom: a table like that of weights, though no model computes it.",
    ask=page.ask("row_sums", words.row_sums, ["read_from"]),
)
def who(v, trace):
    made = Matrix(trace["read_from"]), "·", Matrix(trace["values"])
    yield ui.matrices(trace, *made, "=", Matrix(trace["read_vectors"]), tall=180)
    if not is_covered("read_from"):
        yield ui.text(words.row_words(trace, v.written))


def gates_and_table(v, control, rule):
    """The gates of a rule, and who read from whom, at each bias that a control has."""
    shifted = "moved_strength_scores" if rule == "both" else "moved_decay_scores"

    def traces(biases):
        made = lesson.by_rule(lesson.at_once(v), v.but(**{control.name: biases[0]}), rule)
        return rewritten_each(made, [shifted], map(Shift, biases))

    def parts(made):
        beta = ["|", Matrix(made["strengths"], title="β")] if rule == "both" else []
        return Matrix(made["decays"], title="α"), *beta, "→", Matrix(made["read_from"])

    return ui.moving(control, ui.Along(traces, parts), tall=180)


@page.card(
    "decay",
    "It never forgets, so it blurs",
    "**Decay** multiplies the memory by a gate before each write: α = σ(x · w + **b**). w is "
    "learned (here random), and the sigmoid σ keeps α between 0 and 1.",
    controls=[ui.in_picture(lesson.GATE_BIAS, width=220)],
)
def decay(v):
    yield gates_and_table(v, lesson.GATE_BIAS, "decay")
    yield ui.note(words.faded_words(lesson.by_rule(lesson.at_once(v), v, "decay")))


@page.card(
    "delta",
    "Write over what is there",
    "Two tokens, one key: adding gives the sum of their values. The **delta rule** reads what the "
    "key holds, and writes what is **missing**.",
    controls=[lesson.WRITTEN_BY.at()],
)
def delta(v):
    trace = lesson.two_tokens(v.written_by)
    yield ui.matrices(trace, *lesson.written_now(trace, 1, is_narrow=True), tall=225, is_aside=True)
    yield ui.light(*words.two_words(trace, v.written_by))


@page.card(
    "both",
    "Both gates: Gated DeltaNet",
    "**Gated DeltaNet** does both, with a gate β for how much of what is missing "
    "is written. Three of four layers of Qwen3-Next and Qwen3.5 have this instead of attention.",
    controls=[ui.in_picture(lesson.STRENGTH_BIAS, width=220)],
)
def both(v):
    yield gates_and_table(v, lesson.STRENGTH_BIAS, "both")


@page.card(
    "cost",
    "What it costs as the text grows",
    "Attention keeps the keys and values of all tokens, and the next query is compared with each. "
    "A memory is one matrix, however long the text.",
    controls=[lesson.TEXT_LENGTH.at(width=220)],
)
def cost(v):
    yield ui.chart("cost", words.bars(v), 680)
    yield ui.say(words.cost_words(v))


deeper = page.deeper("the same by a loop, and what real layers add")


@deeper.card(
    "loop",
    "The same by a loop",
    "Four lines of torch for each token, by the rule that is chosen above. Training takes chunks "
    "of tokens at once, with the same numbers. With both gates, memory M and what is read, z, are:",
)
def loop(trace):
    yield ui.formula(
        r"M_t = \alpha_t M_{t-1} + \beta_t\, k_t^\top \left(v_t - k_t\, \alpha_t M_{t-1}\right)"
        r"\qquad z_t = q_t M_t"
    )
    yield ui.light(*lesson.loops_agree(trace))
    yield ui.light(*lesson.table_agrees(trace))


@deeper.section(
    "real",
    "What real layers add",
    "Qwen3-Next and Qwen3.5 divide each query by √d, and a short convolution mixes each token with "
    "the three before it. Each head has a number A, and its α is the exponential of "
    "−A · softplus(x · w + b): for A = 1 that is σ(−x · w − b). One more gate multiplies what is "
    "read.",
)
def real():
    yield ui.link_to("attention_today", "The attention of today")


page.answers(words.has_weights, words.is_window, words.writes_nothing)
page.show()
