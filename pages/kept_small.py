"""Keys and values, kept small: what is kept for each token, and ways to keep less."""

from attention_core.mechanism.latent import ABSORBED
from attention_ui.cards import elements as ui
from attention_ui.cards.page import Page, is_covered
from attention_ui.controls.shared import HEAD
from attention_ui.lessons.kept_small import costs, lesson, words
from attention_ui.lessons.kept_small.lesson import DEEP, LATENT, SHARED, SPARSE
from attention_ui.picture.matrix import Matrix

page = Page("kept_small", output=f"{LATENT}context_vectors")
SUMS = page.ask("sums", words.sums_of_chosen, [f"{SPARSE}weights"])


def of_head(trace, name, head, **look):
    return Matrix(trace[name], lead=(head,), **look)


@page.card(
    "kept",
    "What is kept for each token",
    "A model that writes keeps the keys and values of all tokens so far. As texts grow, this "
    "**cache** is what fills the memory. Each bar below the first is a way to keep less.",
    controls=[lesson.TEXT_LENGTH.at(width=220)],
)
def kept(v):
    yield ui.chart("kept", costs.bars(v.text_length), 680)
    yield ui.say(words.cost_words(v.text_length))
    yield ui.link_to("attention_today", "Heads that share keys and values (GQA)")


@page.card(
    "latent",
    "One latent, all heads",
    "**Multi-head latent attention (MLA)** keeps one small vector for each token, its **latent** "
    "c, from which each head makes its own keys and values. Make it narrower, and compare.",
    controls=[HEAD.at(width=110), ui.in_picture(lesson.D_LATENT)],
)
def latent(v, trace):
    plain = lesson.plain(v)

    def wide(width):
        made = lesson.with_latent(plain, int(width))
        own, now = (of_head(made, f"{each}keys", v.head, compared=True)
                    for each in ("head_", LATENT))  # fmt: skip
        before, after = (of_head(made, f"{each}weights", v.head, compared=True)
                         for each in ("head_", LATENT))  # fmt: skip
        return made, (own, "|", now, "⇒", before, "|", after)

    yield ui.moving(lesson.D_LATENT, wide, tall=215)
    yield ui.note(words.latent_words(trace))


@page.card(
    "absorbed",
    "Keys that are never made",
    "A key is its latent c times W↑, made wide again. So a score is q (c W↑)ᵀ = (q W↑ᵀ) cᵀ (ᵀ "
    "swaps rows and columns): multiply the query by W↑ᵀ once, and compare it with the latents, in "
    "**absorbed form**. Values can wait too: mix the latents first, then widen the mixture.",
)
def absorbed(v, trace):
    parts = (
        *(of_head(trace, f"{LATENT}queries", v.head, title="q"), "·"),
        *(of_head(trace, "W_up_key", v.head, transposed=True, title="W↑ᵀ"), "="),
        *(of_head(trace, f"{ABSORBED}queries", v.head, title="absorbed"), "·"),
        *(Matrix(trace["latents"], transposed=True, title="Cᵀ"), "="),
        of_head(trace, f"{ABSORBED}scores", v.head),
    )
    yield ui.matrices(trace, *parts, tall=210)
    yield ui.light(*lesson.absorbed_agrees(trace))


@page.card(
    "apart",
    "Positions, apart",
    "Rotary positions turn each key by its place, so no one matrix could go over to the query. "
    "They get a few **columns of their own**, whose scores are added.",
    controls=[lesson.ROTARY_AT.at()],
)
def apart(v):
    made = lesson.placed(v, v.rotary_at)
    scores = of_head(made, f"{LATENT}scores", v.head)
    parts = (scores,)
    if v.rotary_at == "apart":
        rotary = of_head(made, "rotary_scores", v.head)
        parts = (of_head(made, f"{LATENT}content_scores", v.head), "+", rotary, "=", scores)
    yield ui.matrices(made, *parts, tall=205, is_aside=True)
    yield ui.light(*lesson.moved_agrees(v))
    yield ui.light(*lesson.absorbed_agrees(made))
    yield ui.note(words.PLACES[v.rotary_at])


@page.card(
    "indexer",
    "An indexer chooses keys",
    "In long texts, comparing with every key is what costs. A **lightning indexer** does so in a "
    "few columns, where negative products count as 0, and leaves attention the **k** keys that "
    "look best. This one is untrained: they need not have most weight.",
    controls=[ui.in_picture(lesson.TOP_K), lesson.MASKED_WHERE.at()],
    ask=SUMS,
)
def indexer(v):
    whole = lesson.plain(v)
    late = "zeroed_weights" if v.masked_where == "after" else f"{SPARSE}weights"

    def left(top_k):
        """What is left of a head at a k."""
        made = lesson.with_indexer(whole, int(top_k))
        full, now = (of_head(made, each, v.head, compared=True) for each in ("head_weights", late))
        index, chosen = Matrix(made["index_masked"]), Matrix(made["chosen"])
        return made, (index, "→", chosen, "|", full, "→", now)

    yield ui.moving(lesson.TOP_K, left, tall=210)
    made = lesson.with_indexer(whole, v.top_k)
    yield ui.text(words.lost_words(made, v.head))
    if not is_covered(f"{SPARSE}weights"):
        yield ui.light(*words.sums_light(made, v.masked_where, v.head))


@page.card(
    "layers",
    "Local and global layers in turn",
    f"A **local** layer sees and keeps only the last {lesson.WINDOW} keys here, a **global** one "
    "all of them. Add layers: from how far back does something reach the last token?",
    controls=[ui.in_picture(lesson.LAYERS), lesson.TURN.at()],
)
def layers(v):
    def after(n_layers):
        """The weights of the last layer, and what has come through all."""
        made, last = lesson.deep(v, int(n_layers)), f"{DEEP}{int(n_layers) - 1}_"
        now, reach = (
            Matrix(made[f"{last}{each}"], title=title, compared=True)
            for each, title in (("weights", "weights of the last layer"), ("reach", "reach"))
        )
        return made, (now, "⇒", reach)

    yield ui.moving(lesson.LAYERS, after, tall=215)
    yield ui.note(words.reach_words(lesson.deep(v, v.layers), v.layers, v.turn))


deeper = page.deeper("layers that share, and what real layers add")


@deeper.card(
    "shared",
    "Layers that share keys and values",
    "Neighbouring layers often make much the same keys. So a later layer can do without W_key and "
    "W_value, and compare **its own queries** with an earlier layer’s keys.",
)
def shared(v):
    made = lesson.sharing(v)
    parts = (
        *(Matrix(made[f"{SHARED}1_queries"]), "·"),
        *(Matrix(made[f"{SHARED}0_keys"], transposed=True), "⇒"),
        *(Matrix(made[f"{SHARED}1_weights"], compared=True), "|"),
        Matrix(made[f"{DEEP}1_weights"], compared=True, title="with keys of its own"),
    )
    yield ui.matrices(made, *parts, tall=215, is_aside=True)
    yield ui.note(words.shared_words(made))


@deeper.section(
    "real",
    "What real layers add",
    "DeepSeek-V3 norms each latent, and makes its queries from a latent too. V3.2’s indexer norms "
    "its keys, turns some of its columns by position, and learns how much each of its heads "
    "counts; it is trained separately, since no gradient comes back through a choice. Here the "
    "matrices of the page’s own heads are split into the two that come nearest to them.",
)
def real():
    yield ui.link_to("without_softmax", "Keep a memory of one size instead")


page.answers(words.is_smaller, words.is_exact, words.sees_everything)
page.show()
