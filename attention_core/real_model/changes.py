"""What is switched off in a model, or put in another's place, to see what depended on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from torch import Tensor

from .settings import Settings


@dataclass(frozen=True)
class Changes:
    """What a run does otherwise than the model by itself."""

    heads: frozenset[tuple[int, int]] = frozenset()
    """(layer, head): what these heads have gathered becomes 0."""
    attention: frozenset[int] = frozenset()
    """The layers whose attention adds nothing."""
    ffn: frozenset[int] = frozenset()
    """The layers whose feed-forward adds nothing."""
    hidden_tokens: frozenset[int] = frozenset()
    """Tokens that no other token sees, in any layer."""
    patches: Mapping[tuple[int, int], Tensor] = field(default_factory=dict)
    """(layer, token): the vector (d_model,) put before that layer, or behind the last one."""

    def check(self, settings: Settings, n_tokens: int) -> None:
        """Raises ValueError, in words, where something is to be changed that there is not."""
        for layer in {*self.attention, *self.ffn, *(layer for layer, _ in self.heads)}:
            if not 0 <= layer < settings.n_layers:
                raise ValueError(f"there is no layer {layer}: the model has {settings.n_layers}")
        if self.ffn and not settings.d_ffn:
            raise ValueError("there is no feed-forward: this model has attention alone")
        for _, head in self.heads:
            if not 0 <= head < settings.n_heads:
                raise ValueError(f"there is no head {head}: a layer has {settings.n_heads}")
        for layer, _ in self.patches:
            if not 0 <= layer <= settings.n_layers:
                raise ValueError(f"there is no layer {layer}: the model has {settings.n_layers}")
        for token in {*self.hidden_tokens, *(token for _, token in self.patches)}:
            if not 0 <= token < n_tokens:
                raise ValueError(f"there is no token {token}: the sentence has {n_tokens}")
        for vector in self.patches.values():
            if vector.shape != (settings.d_model,):
                raise ValueError(
                    f"a vector of shape {tuple(vector.shape)} cannot stand in a stream that is "
                    f"{settings.d_model} wide"
                )

    def and_head(self, layer: int, head: int) -> "Changes":
        """The same, with one head more switched off."""
        return replace(self, heads=self.heads | {(layer, head)})

    def patched(self, layer: int, stream: Tensor, first: int = 0) -> Tensor:
        """The stream before a layer (…, token, d_model), patched; it may begin behind a token."""
        here = {
            token - first: vector
            for (at, token), vector in self.patches.items()
            if at == layer and 0 <= token - first < stream.shape[-2]
        }
        if not here:
            return stream
        stream = stream.clone()
        for token, vector in here.items():
            stream[..., token, :] = vector
        return stream

    def without_heads(self, layer: int, contexts: Tensor) -> Tensor:
        """Context vectors (…, head, token, d_head), 0 for heads that are off."""
        off = [head for at, head in self.heads if at == layer]
        if not off:
            return contexts
        contexts = contexts.clone()
        contexts[..., off, :, :] = 0
        return contexts


NONE = Changes()
