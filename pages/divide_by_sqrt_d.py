"""Why divide by √d: how the spread of a dot product grows with the width, and what that does."""

from attention_core.examples import EXAMPLES
from attention_core.experiments.variance import few_trials
from attention_ui.cards.questions import Pick
from attention_ui.lessons.divide_by_sqrt_d.answers import answers
from attention_ui.lessons.divide_by_sqrt_d.many_trials import (
    choose_seed,
    growth_words,
    judge_growth,
    many_trials,
)
from attention_ui.lessons.divide_by_sqrt_d.published_variances import published_variances
from attention_ui.lessons.divide_by_sqrt_d.three_divisors import three_divisors
from attention_ui.page.closing import closing
from attention_ui.page.page import Page, open_on
from attention_ui.page.show import cell_notice
from attention_ui.page.take_away import take_away
from attention_ui.page.view import View
from attention_ui.predict.common_questions import largest_when_divided
from attention_ui.settings.settings import Settings
from attention_ui.shell.frame import close_lesson

PAGE = "divide_by_sqrt_d"


def view_of(settings: Settings) -> View:
    # Without a way to build it anew: a pin holds no setting of this lesson.
    return View(PAGE, settings, few_trials(settings.draw_seed), opens_with=("dot_products", (0,)))


def lesson(page: Page) -> None:
    """What stands on the page, from top to bottom."""
    view = page.view
    trace, settings = view.trace, view.settings
    n_trials, d = trace["products"].value.shape
    page.part("begin", lambda: cell_notice(view))
    page.words(
        "Here q and k are random vectors of width d, and s is the standard deviation of their "
        "entries, whose mean is 0. All are drawn from the seed below; the sentence in the sidebar "
        "plays no part in this lesson."
    )
    page.controls(choose_seed)
    page.header("Nothing, √d or d", anchor="three_divisors")
    page.words(
        "A layer learns through softmax, so softmax must neither give one key everything nor "
        "treat all keys alike. Make the vectors wider, and watch what the divisor does."
    )
    drawn = (settings.draw_seed, settings.vd)
    page.part("three_divisors", three_divisors, about=drawn)
    page.beat(
        "products",
        "Products",
        f"Each row is a trial: two vectors of width d = {d}, all entries drawn with mean 0 and "
        "variance 1, multiplied entry by entry. Notice that most products are small and a few are "
        "not. Their variance is 1, like that of the entries.",
        trace["products"],
    )
    page.beat(
        "dot_products",
        "Dot products",
        f"The {d} products of a row are added: that is q·k. Some cancel, but not all, and the "
        f"sums spread farther than a single product does. Dividing by √{d} brings them back.",
        trace["dot_products"],
        trace["scaled_dot_products"],
    )
    scores, divided = (trace[n].value for n in ("dot_products", "scaled_dot_products"))
    page.ask(
        "largest",
        largest_when_divided(scores, divided, d),
        about=("dot_products", "scaled_dot_products"),
    )
    page.header("Many trials", anchor="many_trials")
    page.words(
        f"{n_trials} trials say little. Here are as many as you like, at any width. Make the "
        "vectors wider. Then give their entries a standard deviation other than 1: dividing by √d "
        "assumes 1."
    )
    page.ask(
        "growth",
        Pick(
            words="Entries keep mean 0 and variance 1, and the vectors grow from d = 4 to d = 64. "
            "What happens to the standard deviation of q·k?",
            choices=(
                "It stays as it is",
                "4 times as large",
                "16 times as large",
                "64 times as large",
            ),
            judge=lambda guess: judge_growth(guess[0], settings.draw_seed),
            truth=lambda: growth_words(settings.draw_seed),
            teaches="The variance grows like d: 16 times. The standard deviation is its root, and "
            "grows like √d: 4 times.",
        ),
        covers=("variances",),
        about=("dot_products",),
    )
    page.formulas(
        r"\operatorname{Var}(q \cdot k) = d\,s^4",
        r"\operatorname{Var}\!\left(\frac{q \cdot k}{\sqrt d}\right) = s^4",
        shows=("variances",),
    )
    page.part("many_trials", many_trials, about=drawn, shows=("variances",))
    closing(page, answers(view))
    if EXAMPLES[settings.example].notebook:
        with page.deeper("what the notebook prints of this experiment"):
            page.header("Checked against the notebook", anchor="notebook")
            page.part(
                "published",
                lambda: published_variances(view),
                about="printed",
                shows=("variances",),
            )
    page.part("take_away", lambda: take_away(view), about=settings.draw_seed)
    page.part("way", lambda: close_lesson(PAGE))


open_on(PAGE, view_of, lesson)
