"""Mistakes on the way from scores to weights: softmax, hiding."""

from .. import operations as ops
from .base import wrong_lines


@wrong_lines.register
def _(operation: ops.Softmax, scores: str) -> str:
    rows = "the weights of a row sum to 1: write dim=-1."
    plain = ""
    if isinstance(operation, ops.MaskedSoftmax):
        plain = f"""
    {rows}
        {scores}.softmax(dim=-2)  # softmax over the wrong axis
    where every key is hidden, softmax gives nan; the lesson has 0 there.
        {scores}.softmax(dim=-1)  # 0/0 in a row that sees nothing"""
    return f"""
    {rows}
        {type(operation)(-2).code(scores)}  # softmax over the wrong axis
        {type(operation)(-3).code(scores)}  # softmax over the wrong axis, the heads
    a softmax takes e to each score first.
        {ops.SumNormalise().code(scores)}  # divided by the sum, without exponentials
    divide each by the sum of its row, or write softmax.
        {scores}.exp()  # the exponentials are not divided by their sum
    each row has a sum of its own: write sum(dim=-1, keepdim=True).
        {scores}.exp() / {scores}.exp().sum(dim=-1)  # the sum has lost its axis
    {rows}
        {scores}.flatten().softmax(dim=0).view_as({scores})  # softmax over all entries
        {scores}.flatten(-2).softmax(dim=-1).view_as({scores})  # softmax over all entries of a head
    the largest score gets the largest weight: take {scores} as they are.
        (-{scores}).softmax(dim=-1)  # one minus sign too many
    write softmax.
        {scores}.log_softmax(dim=-1)  # the logarithm of softmax{plain}
    take the row's largest score away from each first, or write softmax.
        {scores}.exp() / {scores}.exp().sum(dim=-1, keepdim=True)  # e to large scores overflows"""


@wrong_lines.register
def _(operation: ops.AttentionMask) -> str:
    code = operation.code()
    table = f"torch.ones({operation.n_queries}, {operation.n_keys}, dtype=torch.bool)"
    turned = "True means that the query may look, as in scaled_dot_product_attention."
    return f"""
    queries are rows and keys are columns, so the future lies right of the diagonal.
        ({code}).mT  # the mask is on the wrong side
    {turned}
        ~({code})  # the opposite convention
    keep the diagonal.
        {table}.tril(-1)  # a token cannot see itself
    {turned}
        ~({code}).mT  # the wrong side, and the opposite convention
    tril() keeps the diagonal and what lies left of it, tril(1) one key more.
        {table}.tril(1)  # one key of the future is seen
    earlier keys may be seen too.
        {table}.tril().triu()  # the diagonal alone
    hide what the rule hides.
        {table}  # nothing is hidden"""


@wrong_lines.register
def _(_: ops.MaskedFill, scores: str, mask: str) -> str:
    may, minus = f"hide where it is not: ~{mask}.", 'float("-inf")'
    may = f"{mask} is True where a query may look, so {may}"
    finite = "".join(
        f"{scores}.masked_fill(~{mask}, {fill})  # a finite number, {fill}, in place of −∞\n"
        for fill in ("-1e9", "-1e4", "torch.finfo(torch.float32).min")
    )
    return f"""
    softmax gives a score of 0 some weight, and only {minus} none.
        {ops.MaskedFill(0.0).code(scores, mask)}  # 0 in place of −∞
    a token may see itself: triu(1) begins right of the diagonal, triu() on it.
        {scores}.masked_fill(~{mask} | torch.eye(len({mask})).bool(), {minus}) \
            # the diagonal is hidden too
    {may}
        {scores}.masked_fill({mask}, {minus})  # the opposite convention
        {scores}.masked_fill(~{mask}.mT, {minus})  # the mask is on the wrong side
        {scores}.masked_fill({mask}.mT, {minus}) \
            # the mask is on the wrong side, the opposite convention
        {scores} * ~{mask}  # 0 in place of −∞, the opposite convention
    softmax turns plus infinity into nan: write {minus}, with a minus.
        {scores}.masked_fill(~{mask}, float("inf"))  # +∞ in place of −∞
    {may}
        {scores}  # nothing is hidden
    that moves a score by 1 and hides nothing: hide where {mask} is False.
        {scores} + {mask}.float()  # the mask is added as 1 and 0
    where {mask} is True this multiplies 0 by ∞: choose with masked_fill or torch.where.
        {scores} - float("inf") * ~{mask}  # 0 · ∞ is nan
    it leaves no weight only while the scores are small: write {minus}.
        {finite}"""
