"""How a head is called, everywhere: `head 1.2`, its layer and its place in it, both from 0."""


def head_id(layer: int, head: int) -> str:
    """A head as a control and a link name it: `1.2`."""
    return f"{layer}.{head}"


def head_name(head: int, layer: int | None = None) -> str:
    """A head in words: `head 1.2`; `head 2` where there is one layer alone."""
    return f"head {head if layer is None else head_id(layer, head)}"


def head_in_full(layer: int, head: int) -> str:
    """The same where a reader meets such a name first."""
    return f"{head_name(head, layer)} (head {head} of layer {layer}, both counted from 0)"
