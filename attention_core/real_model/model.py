"""An open model: its settings, its tokenizer, and its matrices, read when looked at."""

import math
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path

from torch import Tensor

from ..files.gguf_file import GgufFile, opened_gguf
from ..files.reading import AsOpened, reading
from ..files.refused import ModelRefused
from ..files.tensor_file import quoted, state_of
from ..utils.validation import validated
from . import by_config, by_fields
from .config_reader import ConfigReader
from .folder import GENERATION, Folder, files_of
from .missing import missing
from .names import Names, Where
from .settings import Settings
from .tokenizer import Tokenizer, from_json
from .tokenizer_fields import from_fields

KEPT_BYTES = 32 * 2**20
"""Layers in float32 that are kept: two of SmolLM2. More helps only if all had room."""


FOR_VECTORS = "modules.json"
"""A file that only models of sentence-transformers have: which parts make a text's vector."""
Source = Folder | GgufFile
"""Where tensors come from: the files of a folder, or a file."""


class Model:
    """A language model in a file or a folder. Made by `open_model`; several threads may use it."""

    def __init__(
        self,
        name: str,
        source: Source,
        described: by_config.Described,
        tokenizer: Tokenizer | None,
        quantised: str | None,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self.name = name
        """What it calls itself, or the name of its file: a person's text."""
        self.source = source
        self.as_opened: AsOpened = {}
        """How its files were when they were opened: one that has changed since is read no more."""
        self.family = described.family
        self.settings: Settings = described.settings
        self.names: Names = described.names
        self.ends = described.ends
        """The tokens with which it ends what it writes: nothing comes after one."""
        self.tokenizer = tokenizer
        self.quantised = quantised
        """Such as `4 bits (Q4_1)`; None where all numbers are kept in full."""
        self._kept: OrderedDict[int, dict[str, Tensor]] = OrderedDict()
        self.kept_bytes, self._lock = kept_bytes, threading.Lock()
        """So much of layers in float32 is kept for when they are asked for again."""
        self._longer: Model | None = None
        self.for_vectors = False
        """Whether it was trained to give a text's vector, not its next token."""
        self._norms: dict[str, tuple[Tensor, Tensor | None]] = {}
        self._tables: dict[str, Tensor] = {}

    def where(self, name: str) -> Where:
        """Where a tensor stands, by our name for it, with its layer in front: `3.W_query`."""
        layer, _, ours = name.rpartition(".")
        found = self.names.of_layer[ours] if layer else self.names.once[ours]
        return replace(found, name=found.name.format(layer))

    def matrix(self, name: str, rows: Sequence[int] | None = None) -> Tensor:
        """A tensor in float32 by our name for it, such as `token_table` or `3.W_query`; matrices
        stand (out, in). With `rows`, only these of it. What is kept of a layer, and of a table
        where all has room, is not read again: it is nobody's to change. Raises ModelRefused, in
        words, where it cannot be read, or a file has changed since the model was opened.
        """
        with reading(self.as_opened):
            return self._matrix(name, rows)

    def _matrix(self, name: str, rows: Sequence[int] | None) -> Tensor:
        layer, _, ours = name.rpartition(".")
        if layer and (kept := self._kept.get(int(layer))) is not None:
            return kept[ours] if rows is None else kept[ours][list(rows)]
        if rows is not None and not layer and self.kept_bytes >= self.bytes_in_full:
            if name not in self._tables:
                self._tables[name] = self._matrix(name, None)
            if isinstance(rows, range) and rows.step == 1:
                return self._tables[name][rows.start : rows.stop]
            return self._tables[name][list(rows)]
        where = self.where(name)
        if not where.beside and not where.transposed:
            return self.source.matrix(where.name, rows)
        whole = self.source.matrix(where.name)
        if where.transposed:
            whole = whole.T
        if where.beside:
            first, end, n_groups = self.place_in(where)
            whole = whole.unflatten(0, (n_groups, -1))[:, first:end].flatten(0, 1)
        return whole if rows is None else whole[list(rows)]

    def place_in(self, where: Where) -> tuple[int, int, int]:
        """The first row of one in a joined tensor, the last, and how many groups of rows it has."""
        shapes, n_groups = self.settings.shapes_of_layer(), 1
        if where.by_head:
            n_groups = self.settings.n_heads
        *before, own = (shapes[each][0] // n_groups for each in where.beside[: where.at + 1])
        return sum(before), sum(before) + own, n_groups

    def reading(self, n_tokens: int) -> "Model":
        """The model as it reads a text of so many tokens: long ones may be turned otherwise."""
        if self.settings.longer is None or n_tokens <= self.settings.longer[0]:
            return self
        if self._longer is None:
            self._longer = copy(self)
            rates = self.settings.longer[1]
            self._longer.settings = replace(self.settings, rates=rates, longer=None)
        return self._longer

    def layer(self, layer: int) -> Mapping[str, Tensor]:
        """All tensors of a layer by our names, nobody's to change. The last few are kept."""
        with self._lock:
            if layer in self._kept:
                self._kept.move_to_end(layer)
                return self._kept[layer]
        made = {name: self.matrix(f"{layer}.{name}") for name in self.settings.shapes_of_layer()}
        size = sum(each.numel() * 4 for each in made.values())
        with self._lock:
            self._kept[layer] = made
            while len(self._kept) > max(1, self.kept_bytes // max(size, 1)):
                self._kept.popitem(last=False)
        return made

    def let_go(self) -> None:
        """Keep nothing any more: another one has been opened in its place."""
        with self._lock:
            for model in filter(None, (self, self._longer)):
                model.kept_bytes = 0
            self._kept.clear()
            self._tables.clear()

    def check_predicts(self) -> None:
        """Raises ValueError, in words, where it says no next token."""
        if not self.settings.predicts:
            raise ValueError(f"{self.name} says no next token: {self.why_silent}")

    @property
    def why_silent(self) -> str:
        """Why it says no next token, where that is so."""
        if not self.settings.causal:
            return f"a {self.family} reads whole sentences"
        return "its file has no table for it, and does not share that of tokens"

    @property
    def bytes_in_full(self) -> int:
        """How much memory all layers and tables take in float32."""
        settings = self.settings
        of_layer, once = settings.shapes_of_layer().values(), settings.shapes().values()
        return 4 * (settings.n_layers * sum(map(math.prod, of_layer)) + sum(map(math.prod, once)))

    def norm(self, name: str) -> tuple[Tensor, Tensor | None]:
        """The gain and the bias of a norm that the model has once."""
        if name not in self._norms:
            has_bias = f"{name}_bias" in self.settings.shapes()
            bias = self.matrix(f"{name}_bias") if has_bias else None
            self._norms[name] = self.matrix(f"{name}_gain"), bias
        return self._norms[name]

    def __repr__(self) -> str:
        return f"Model({self.name!r}, {self.family})"


@validated
def open_model(path: str | Path, *, kept_bytes: int = KEPT_BYTES) -> Model:
    """A model from a `.gguf` file, or from a folder as Hugging Face has them: `config.json`,
    `tokenizer.json`, and weights in one or more safetensors files.

    Nothing is executed, and only the front of the weights is read. Raises ModelRefused, in words,
    for a model that is broken, incomplete, or computed in a way that is not known here, and for
    what only a mistake of ours can be.
    """
    path = Path(path)
    with reading():
        as_opened = {each: state_of(each) for each in files_of(path)}
        model = _opened(path, kept_bytes)
        model.as_opened = as_opened
        return model


def _opened(path: Path, kept_bytes: int) -> Model:
    name = quoted(path.name)
    if path.is_dir():
        return _from_folder(path, kept_bytes)
    if not path.is_file():
        raise ModelRefused(f"there is no file and no folder {name}")
    if path.suffix.lower() == ".gguf":
        return _from_gguf(path, kept_bytes)
    raise ModelRefused(
        f"{name} is no model that can be read: give a .gguf file, or a folder with config.json, "
        "tokenizer.json and weights in safetensors files"
    )


def _from_folder(path: Path, kept_bytes: int) -> Model:
    folder = Folder(path)
    described = as_written(by_config.described(folder.config), folder)
    check_tensors(folder, described.settings, described.names)
    tokenizer = from_json(folder.tokenizer, f"tokenizer.json in {path.name}")
    _check_tokenizer(tokenizer, described.settings)
    how_it_writes = ConfigReader(folder.generation, GENERATION)
    described = replace(described, ends=by_config.ends(how_it_writes) or described.ends)
    model = Model(quoted(path.resolve().name), folder, described, tokenizer, None, kept_bytes)
    model.for_vectors = (path / FOR_VECTORS).is_file()
    return model


def _from_gguf(path: Path, kept_bytes: int) -> Model:
    file = opened_gguf(path)
    described = by_fields.described(file)
    check_tensors(file, described.settings, described.names)
    tokenizer = from_fields(file.fields, path.name)
    _check_tokenizer(tokenizer, described.settings)
    said = file.fields.get("general.name")
    name = quoted(said) if isinstance(said, str) and said else quoted(path.stem)
    return Model(name, file, described, tokenizer, file.most_common_kind().words, kept_bytes)


def as_written(described: by_config.Described, folder: Folder) -> by_config.Described:
    """What a file says, with the names that the folder's tensors have: some do without what names
    begin with, BERT's norms have older ones, and GPT-NeoX's last table a newer one. Where a table
    of its own for the next token, or for none but it, stands there, it is used whatever the file
    says, as `transformers` does. Where there is none, and none is shared, nothing says it.
    """
    names, settings, known = described.names, described.settings, folder.places
    beginning = names.beginning

    def written(where: Where) -> Where:
        older = where.name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta")
        for name in (where.name, older, where.name.replace("embed_out.", "lm_head.")):
            for each in (name, name.removeprefix(beginning)):
                if each.format(0) in known:
                    return replace(where, name=each)
        return where

    once = {ours: written(where) for ours, where in names.once.items()}
    if settings.tied and (own := once.get("W_unembed")) and own.name in known:
        if once["token_table"].name in known:
            settings = replace(settings, tied=False)
        else:
            once["token_table"] = own
    without = once["token_table"].name != names.once["token_table"].name
    is_told = settings.tied or not settings.predicts or once["W_unembed"].name in known
    if without and not is_told:  # saved by a class that has no such table
        settings = replace(settings, predicts=False)
    of_layer = {ours: written(where) for ours, where in names.of_layer.items()}
    return replace(described, settings=settings, names=replace(names, once=once, of_layer=of_layer))


def check_tensors(source: Source, settings: Settings, names: Names) -> None:
    """Raises ModelRefused for a tensor that is missing, of another shape, or not known."""
    wanted: dict[str, tuple[int, ...]] = {}
    for name, shape in _wanted(settings, names):
        if wanted.setdefault(name, shape) != shape:
            raise ModelRefused(f"{quoted(name)} would need two shapes: {wanted[name]} and {shape}")
    there = sorted(source.places)
    for name, shape in wanted.items():
        if name not in there:
            raise ModelRefused(f"{source.path.name} has no tensor {quoted(name)}")
        stored = tuple(source.places[name].shape)
        if stored != shape:
            has, needs = (" × ".join(map(str, each)) for each in (stored, shape))
            raise ModelRefused(
                f"{quoted(name)} in {source.path.name} is {has or 'one number'}, but by its "
                f"settings it must be {needs}"
            )
        source.check_kind(name)
    for name in there:
        bare = name.removeprefix(names.beginning)
        if name not in wanted and not any(re.fullmatch(each, bare) for each in names.ignored):
            raise ModelRefused(
                f"{source.path.name} has a tensor {quoted(name)}, which is not known here: the "
                f"model may be computed in another way{missing([bare])}"
            )


def _wanted(settings: Settings, names: Names) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Every tensor that a model needs by the file's name for it, and its shape as it stands."""
    once, of_layer = settings.shapes(), settings.shapes_of_layer()
    for layer in (None, *range(settings.n_layers)):
        for ours, shape in (once if layer is None else of_layer).items():
            where = (names.once if layer is None else names.of_layer)[ours]
            if where.beside:
                shape = (sum(of_layer[each][0] for each in where.beside), *shape[1:])
            yield where.name.format(layer), shape[::-1] if where.transposed else shape


def _check_tokenizer(tokenizer: Tokenizer, settings: Settings) -> None:
    if tokenizer.highest_id >= settings.n_vocabulary:
        raise ModelRefused(
            f"the tokenizer does not belong to these weights: it has a token "
            f"{tokenizer.highest_id:,}, but there are vectors of {settings.n_vocabulary:,} tokens"
        )
