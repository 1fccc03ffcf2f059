# Goes into attention_core/operations/entrywise.py, at the end


class Halve(Operation):
    """Half of every entry. (…) → (…)"""

    takes = "(…)"
    in_latex = r"\tfrac{{1}}{{2}} {0}"
    in_torch = "0.5 * {0}"
    in_words = "Half of the score."

    def value(self, scores: Tensor) -> Tensor:
        return 0.5 * scores

    def arithmetic(self, index: tuple[int, ...], scores) -> Expression:
        return Product((Number(0.5), scores.cell(index)))

    # Right for what is linear alone; other ways stand in attention_core/operations/declared.py.
    backward = gradients(likewise)
