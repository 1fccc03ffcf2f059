"""Attention on any tensors: all that torch's attention takes, and what models have added."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from .. import operations as ops
from ..trace import Trace
from ..utils.validation import validated
from .builder import attend_steps, check_shapes
from .options import Options
from .own_tensors import check_same_kind, give, given_labels, own


@validated
def attend_tensors(
    queries: Tensor | Sequence,
    keys: Tensor | Sequence,
    values: Tensor | Sequence,
    *,
    past_keys: Tensor | Sequence | None = None,
    past_values: Tensor | Sequence | None = None,
    query_labels: Sequence[str] = (),
    key_labels: Sequence[str] = (),
    **options: Any,
) -> Trace:
    """Attention on tensors of your own: a trace with `queries`, `keys`, `values` and the steps of
    `attention`.

    `queries` (…, query, d), `keys` (…, key, d) and `values` (…, key, d_value) may be single, or
    have heads in front, or a batch and heads. They are float32, float16 or bfloat16, and so is all
    that is made of them. With fewer key heads than query heads, each serves several query heads,
    one after the other (`shared_keys`, `shared_values`). `past_keys` (…, past, d) and `past_values`
    are put before the new ones (`new_keys`, `new_values`): the first query then stands behind them.
    Options:

    - `scale`: `"sqrt_d"`, `"d"` or `"none"`, what scores are divided by; or a number, which they
      are multiplied by, as in torch.
    - `mask`: of any shape that torch repeats to (…, query, key). True = may look (`given_mask`);
      or numbers to be added (`added_mask`), of which −∞ hides.
    - `causal`: hide the keys after a query. `window`: the numbers of keys to the left and to the
      right that a query sees, None for all. `corner`: `"top_left"`, where the first query stands at
      the first new key, or `"bottom_right"`, where the last stands at the last.
    - `sinks`: with a window, how many of the first keys stay visible outside of it. `alibi`: a bias
      that grows with the distance, with another slope for each head, is added to the scores.
    - `lengths`: how many keys are no padding: one number, or one for each text of a batch.
    - `sink_logits`: a score that no key stands for, one for all heads or one for each: it takes
      weight from every row. With 0 this is the softmax “off by one”.
    - `soft_cap`: scores are kept within ± this number. `temperature`, `dropout`, `dropout_seed`: as
      in `attention`.

    A query with all keys hidden has weights of 0. Raises ValueError, in words, for shapes, kinds of
    numbers and options that do not fit.
    """
    chosen = Options(**options)
    given = {"queries": queries, "keys": keys, "values": values}
    if (past_keys is None) != (past_values is None):
        raise ValueError("past keys and past values belong together: give both or neither")
    if past_keys is not None:
        given |= {"past_keys": past_keys, "past_values": past_values}
    tensors = {name: own(name, numbers, (2, 3, 4)) for name, numbers in given.items()}
    check_same_kind(tensors)
    front = ((), ("head",), ("batch", "head"))[tensors["queries"].ndim - 2]
    n_past = tensors["past_keys"].shape[-2] if "past_keys" in tensors else 0
    if n_past and not query_labels:
        query_labels = [f"place {n_past + query}" for query in range(tensors["queries"].shape[-2])]
    trace = Trace(**given_labels(query=query_labels, key=key_labels))
    check_shapes(tensors, front)
    width = "d_head" if "head" in front else "d_query"
    steps = {"queries": give(trace, "queries", tensors["queries"], (*front, "query", width))}
    shared = tensors["queries"].shape[:-2] != tensors["keys"].shape[:-2]
    behind = (*front[:-1], "kv_head") if shared else front
    for name, axis in (("keys", width), ("values", "d_value")):
        if n_past:
            past = give(trace, f"past_{name}", tensors[f"past_{name}"], (*behind, "past", axis))
            new = give(trace, f"new_{name}", tensors[name], (*behind, "new_key", axis))
            steps[name] = trace.step(name, ops.JoinRows(), past, new, axes=(*behind, "key", axis))
        else:
            steps[name] = give(trace, name, tensors[name], (*behind, "key", axis))
    attend_steps(trace, *steps.values(), options=chosen, n_past=n_past)
    return trace
