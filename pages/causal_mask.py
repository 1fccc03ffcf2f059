"""Lesson 6: hiding the future, and what leaks when it is done otherwise."""

import streamlit as st

from attention_core.text.embedding import embed
from attention_ui.cards.alone import Place, alone
from attention_ui.cards.begin import begin
from attention_ui.cards.card import card, light, note, waits_for
from attention_ui.cards.question import first_shown, question
from attention_ui.cards.show import Moving, chart, moves, picture
from attention_ui.controls import held, shared
from attention_ui.controls.control import Values
from attention_ui.controls.widget import control
from attention_ui.frame.ends import answers, deeper, ends
from attention_ui.frame.page import way_to_a_real_model
from attention_ui.lessons.causal_mask import leaks, lesson, words
from attention_ui.lessons.causal_mask.dropout import DRAWS, many_draws
from attention_ui.picture.equation_parts import equation_of
from attention_ui.picture.layout import Layout, equation
from attention_ui.picture.matrix import Matrix
from attention_ui.picture.sentence import with_sentence

ROW = {"horizontal": True, "vertical_alignment": "bottom", "gap": "medium"}
values, trace = begin("causal_mask")
mask, weights = trace["mask"].value, trace["weights"]
masked = values.of(*shared.SOURCE, shared.DIVIDE, lesson.CAUSAL, lesson.HIDDEN, lesson.TURNED)

with card(
    "mask",
    "The mask",
    f"{words.mask_words(values, mask)} A hidden score becomes minus infinity (−∞) before the "
    "softmax: e to the power of −∞ is exactly 0.",
) as beside:
    with beside:
        moves("mask", lesson.WINDOW, width=300)
    embedded = embed(shared.inputs_of(values))

    def seen_through(window: float) -> Layout:
        """The scores, the mask with a window, and what it leaves of them."""
        found = lesson.with_window(embedded, values, window)
        before, hiding = (Matrix(each) for each in found["masked_scores"].inputs)
        shown = (before, hiding, "→", Matrix(found["masked_scores"]))
        return equation(found, *shown, tall=270)

    moving = Moving(lesson.WINDOW, seen_through, masked, elsewhere=True)
    picture("mask", seen_through(values.window), moving)
    with st.container(key="makes_mask", **ROW | {"gap": "small"}):
        control(lesson.CAUSAL)
        control(lesson.HIDDEN, width=190)
        tokens = shared.numbered_tokens(values)
        if "turned" not in values.hide:
            # Under the causal mask the first to be offered lets a query see its answer.
            at = {"Query": max(len(tokens) - 2, 0), "Key": len(tokens) - 1}
            places = [
                st.selectbox(
                    label,
                    [*tokens],
                    index=first,
                    format_func=tokens.__getitem__,
                    key=f"turn_{label}_{len(tokens)}_{abs(hash(tuple(tokens.values()))) % 10_000}",
                    width=130,
                )
                for label, first in at.items()
            ]
            turned = tuple(sorted({*values.turned} ^ {tuple(places)}))
            fixed = len(turned) > 32 or "turned" in values.lock
            st.button(
                "Flip this cell",
                on_click=held.change,
                kwargs={"turned": turned},
                disabled=fixed,
                key="flip",
            )
            if values.turned:
                undo = {"on_click": held.change, "kwargs": {"turned": ()}, "disabled": fixed}
                st.button("Undo all flips", key="undo_flips", **undo)
    if blind := leaks.blind_rows(mask):
        note(
            "Where every key is hidden, softmax would divide 0 by 0. Such a row of weights is set "
            "to 0, as torch's `scaled_dot_product_attention` does."
        )
        names = trace.labels("query")
        st.text("Nothing to look at: " + ", ".join(f"query {at} “{names[at]}”" for at in blind))

with card("weights", "Weights", words.weights_words(mask)) as beside:
    with beside:
        control(shared.DIVIDE)
    hidden_by = question("row", words.shared_row(trace, values), trace, ("weights", "mask"))
    covered = hidden_by - {"mask"}
    asked = words.asked_query(trace)
    waits = {"rows": (asked,), "covered": True} if covered else {}
    if covered:
        of_row = (Matrix(trace["masked_scores"], rows=(asked,)), "→", Matrix(weights, **waits))
        picture("weights", equation(trace, *of_row))
    else:
        both = [Matrix(trace[name], compared=True) for name in ("unmasked_weights", "weights")]
        first = first_shown(asked, shared.first_query(values))
        picture("weights", with_sentence(equation(trace, *both, tall=272), first))
        light(*leaks.share_verdict(trace, "minus_infinity"))
    way_to_a_real_model("In a real model, many heads rest on the first token", "first")

with card("context", "Context vectors", words.context_words(mask)):
    contexts = Matrix(trace["context_vectors"], **waits)
    shown = [Matrix(weights, **waits), "·", Matrix(trace["embeddings"]), "=", contexts]
    picture("context", equation(trace, *shown, tall=272))

with card(
    "ways",
    "Four ways to hide",
    "Some notebooks fill in 0 instead of −∞, before the softmax or after it. Rows may still sum to "
    "1 then, so checking the sums alone does not find the mistake.",
) as beside:
    with beside:
        control(lesson.WAY)
    covered |= question("leaks", leaks.which_leak(values), trace, leaks.OTHER_WEIGHTS)
    way, name = lesson.prefix_of(values.masking), f"{lesson.prefix_of(values.masking)}weights"
    picture("ways", equation(trace, *leaks.parts_of(trace, way, name in covered), tall=272))
    if name not in covered:
        light(*leaks.sums_verdict(trace, values.masking))
        light(*leaks.share_verdict(trace, values.masking))

asks_for_leaks = bool(covered & {*leaks.OTHER_WEIGHTS})


@alone(
    "leak",
    "Measure the leak",
    "Change one token and compute everything again. The context vector of a query that may not "
    "look at this token must stay as it is. *Hide by*, above, chooses the way that is measured.",
)
def leak(values: Values, beside: Place) -> None:
    if asks_for_leaks:
        waits_for("Four ways to hide")
    else:
        with beside:
            control(lesson.CHANGED, width=150)
            moves("leak", lesson.CHANGE_BY)

        def moved_by(amount: float) -> tuple:
            """The context vectors with the change and before it, and what has moved."""
            found = lesson.changed(values.but(change_by=amount), masked=trace.branch())
            later = Matrix(found[f"changed_{way}context_vectors"], title="context_vectors, changed")
            before = Matrix(found[f"{way}context_vectors"], title="context_vectors")
            still = Matrix(found["moved"], allowed=leaks.may_move(found, values.changed_token))
            return tuple(equation_of(found["moved"], drawn=[later, before, still]))

        after = lesson.changed(values, masked=trace.branch())
        about = (masked, values.of(lesson.WINDOW, lesson.WAY, lesson.CHANGED))
        moving = Moving(lesson.CHANGE_BY, moved_by, about, elsewhere=True)
        picture("leak", equation(after, *moved_by(values.change_by), tall=290), moving)
        good, told = leaks.said_of_leak(values, after)
        note(told) if good is None else light(good, told)


with deeper(
    "dropout, which hides weights at random; what each way leaves on hidden keys; as a formula",
    *("dropout", "softmax"),
) as is_open:
    if is_open:
        st.subheader("Dropout on the weights", anchor="dropout")
        st.markdown(
            "In training, random weights are dropped, so that no query relies on one key. The "
            "remaining weights are scaled up."
        )
        if "weights" in covered:
            waits_for("Weights")
        else:
            with st.container(**ROW):
                moves("dropout", shared.DROPOUT, width=200)
                control(shared.DROP_SEED, width=180)
                control(shared.QUERY, width=150)

            def dropped_by(chance: float) -> tuple:
                """The weights, the numbers that are drawn, and what they leave."""
                found = lesson.dropped(values.but(dropout=chance), trace.branch())
                return tuple(equation_of(found["dropped_weights"]))

            once = lesson.dropped(values, trace.branch())
            about = (masked, values.of(lesson.WINDOW, shared.DROP_SEED))
            moving = Moving(shared.DROPOUT, dropped_by, about, elsewhere=True)
            picture("dropout", equation(once, *dropped_by(values.dropout), tall=270), moving)
            drawn, told = many_draws(once, values)
            st.markdown(
                f"**Row {values.query}**: its weights as they are, and the mean of {DRAWS:,} draws."
            )
            chart("draws", drawn, width=520, height=250)
            st.markdown(told)

        st.subheader("Weight on hidden keys", anchor="hidden_share")
        if asks_for_leaks:
            waits_for("Four ways to hide")
        else:
            st.markdown("How much of its weight each query gives to hidden keys, way by way:")
            st.dataframe(leaks.share_table(trace, [*tokens.values()]), width="content")

        st.subheader("From masked scores to weights", anchor="softmax")
        shown = equation_of(weights, drawn=[Matrix(weights, **waits)])
        picture("softmax", equation(trace, *shown, tall=270))
        st.latex(
            r"A = \operatorname{softmax}(S_M) \qquad "
            r"(S_M)_{ij} = \begin{cases} S_{ij} & \text{if } M_{ij} \\ -\infty & \text{else} "
            r"\end{cases}"
        )
        st.latex(r"M_{ij}\text{: query } i \text{ may look at key } j")
        st.markdown(
            "In words: where a query may not look, its score becomes −∞. Softmax takes e to the "
            "power of each score, and e to the power of −∞ is 0: a hidden key gets no share."
        )
        st.markdown(
            "True means *may look*, as in torch's `scaled_dot_product_attention`. "
            "`nn.MultiheadAttention` and the notebooks use the opposite, True for hidden. That is "
            "why the program below writes `~mask` where it fills in −∞."
        )

answers([words.why_before(trace), words.at_itself(mask), words.at_one_key(trace)], covered)
ends(trace, "context_vectors", "causal")
