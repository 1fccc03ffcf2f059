"""How a learner's code is called: told by names, in any case of letters, else by trying."""

import contextlib
import inspect
import os
import re
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .arrays import array_of, kinds_expected
from .reading import may_look

HEADS = ("nheads", "numheads", "nhead", "numattentionheads", "heads", "h")
NOWHERE = open(os.devnull, "w")  # noqa: SIM115
"""Where the code prints to. It stays open, since code may keep it."""
FEWEST_DIGITS = 1e-5
"""The coarsest rounding of a kind of number with which a check can tell right from wrong."""
MOST_SAID = 200
"""How many characters of a message of somebody else's are repeated."""
ROLES = {
    r"(?:w|weights?|matrix|m|proj)([qkvo])[a-z]*|([qkvo])[a-z]*(?:w|weights?|matrix|mat|proj)": "w",
    r"(?:b|bias)([qkv])[a-z]*|([qkv])[a-z]*bias": "b",
    r"(?:x|in|inputs?)?(q|k|v)(?:s|uery|ueries|ey|eys|al|als|alue|alues|in|inputs?|x|vecs?)?": "",
}
"""How an argument is called, without its underscores: a matrix, its bias, or vectors themselves."""


SECOND = "context|ctx|memory|encod|enc|cond|source|cross|kv|keyvalue|other|second|y"
FIRST = "q|quer|tgt|target|decod|dec|first|x"
"""How the text of the keys and values is called, and that of the queries, where there are two."""
OF_SHAPES = (
    "(?i)shape|size|dim|view|unpack|divi|ax[ei]s|[1-4]d|matri|broadcast|expand|index|equation|subscript"
    "|operand|assert|argument|key|mask"
)
"""What errors of tensors with other shapes than the code expects speak of."""


class Stopped(Exception):
    """The learner's code stopped, or gave something that is no output. Says so in words."""

    name = ""
    """The mistake that it is, where that is known."""

    def __init__(self, words: str, name: str = "") -> None:
        super().__init__(printable(words))
        self.name = name

    @property
    def is_of_shapes(self) -> bool:
        """Whether it may run with tensors of other shapes."""
        told = OF_SHAPES if self.__cause__ else "output is [0-9]+ ×"
        is_of_kinds = "operand type" in str(self) and "NoneType" not in str(self)
        return bool(re.search(told, str(self))) and not is_of_kinds


class Way(NamedTuple):
    """One way to hand over the vectors and the mask."""

    layout: str
    mask: str = ""
    """Whether True means that a query may look, or hides, or numbers are added. "" for no mask."""
    n_axes: int = 2
    """How many axes the mask has."""
    flag: bool = False
    """Whether it is told by an argument such as `causal` that later tokens are hidden."""


class Call:
    """Code that takes vectors (text, token, d_in) and gives such. Raises Stopped if untold."""

    def __init__(self, function: Any, causal: bool = False, n_heads: int = 1) -> None:
        self.function, self.causal, self.n_heads = function, causal, n_heads
        self.is_module = isinstance(function, nn.Module)
        self.roles, self.options = _arguments(function)
        self.takes_heads = "heads" in [*self.roles, *(role for _, role in self.options)]
        self.takes_matrices = "wq" in self.roles
        self.takes_vectors = "q" in self.roles
        self.has_own = self.is_module and any(True for _ in function.parameters())
        self.is_closed = not self.takes_matrices and (self.has_own or not self.takes_vectors)
        """Whether it makes queries, keys and values by matrices of its own."""
        roles = {*self.roles, *(role for _, role in self.options)}
        self.takes_second = "y" in roles or ({"k", "v"} <= roles and roles & {"q", "x"})
        """Whether keys and values may come from another text than the queries."""
        self.has_two_seconds = "v" in roles
        """Whether those of keys and of values are two arguments."""
        self.others: tuple[Tensor, Tensor] | None = None
        """The texts (token, d_in) of keys and of values; None for that of the queries."""
        self.masks_first = False
        """Whether the mask is of the first text, which looks at itself too, as in a decoder."""
        self.asks_weights = True
        """Whether an argument such as `need_weights` is True."""
        self.way = Way("plain")
        self.meets = True
        """Whether a token's output depends on another token."""
        self.kinds = kinds_expected(function)
        self.takes_arrays = self.kinds[0]
        """Whether it gets arrays of numpy's, not tensors."""
        self.overwrites = False
        """Whether a call has left other numbers in what it was given."""
        names = [each.name for each in parameters_of(function) if each.default is each.empty]
        self.names = names if len(names) == len(self.roles) else self.roles
        self.put: dict[str, object] = {}
        """What arguments get by their names, in place of what they would."""
        self.with_gradients = False
        self.n_alike = 1
        """How often each vector is given, beside itself."""
        self.padding = ""
        """What a mask that hides padding says, where one was found."""
        self.understood = True
        """Whether the mask, as it is given, hides what it should."""

    def __call__(
        self, vectors: Tensor, *matrices: Tensor, parameters: dict | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Output (text, token, d_out), weights (head, query, key) or None. Raises Stopped."""
        _, output, weights = self.called(vectors, *matrices, parameters=parameters)
        return output, weights

    def called(
        self, vectors: Tensor, *matrices: Tensor, parameters: dict | None = None
    ) -> tuple[object, Tensor, Tensor | None]:
        """What it returned, and what that has as output and weights. Raises Stopped."""
        vectors = vectors.repeat(1, 1, self.n_alike)
        given = self._given(vectors, matrices)
        # Copies: a function that writes into its input must not change the next call's.
        copies = [each.clone() if isinstance(each, Tensor) else each for each in given]
        named = {name: self._option(role, vectors, matrices) for name, role in self.options}
        named |= {name: value for name, value in self.put.items() if name not in self.names}
        named = {name: value for name, value in named.items() if value is not None}
        with stopping(self.with_gradients):
            if self.takes_arrays:
                result = self.function(
                    *map(array_of, copies), **{name: array_of(e) for name, e in named.items()}
                )
            elif parameters is None:
                result = self.function(*copies, **named)
            else:
                kept = dict(self.function.named_parameters())
                own = {name: each.to(kept[name], copy=True) for name, each in parameters.items()}
                result = torch.func.functional_call(self.function, own, tuple(copies), named)
            wanted = None if self.is_closed else matrices[-1].shape[-1]
            read = self._read(result, vectors, wanted)
            pairs = zip(copies, given, strict=True)
            self.overwrites |= any(not torch.equal(a, b) for a, b in pairs if isinstance(b, Tensor))
        return result, *read

    def settle(self, vectors: Tensor, *matrices: Tensor, parameters: dict | None = None) -> None:
        """Find a way in which it runs as it should; else a near one. Raises Stopped for none."""
        first = None
        for takes_arrays in self.kinds:
            self.takes_arrays = takes_arrays
            try:
                self._settle(vectors, matrices, parameters)
            except Stopped as stopped:
                first = first or stopped
            else:
                self.kinds = [self.takes_arrays]
                return
        self.takes_arrays = self.kinds[0]
        raise first or Stopped("it cannot be called")

    def _settle(
        self, vectors: Tensor, matrices: tuple[Tensor, ...], parameters: dict | None
    ) -> None:
        def moved(at: int, output: Tensor) -> Tensor:
            """Which tokens' outputs move when the one at a place is another, (token,)."""
            other = vectors.clone()
            other[:, at] = vectors[:, at].flip(-1) + 0.5
            made = self(other, *matrices, parameters=parameters)[0]
            return ((made - output).abs() > 0).any(-1).any(0)

        stops, ran = [], []
        for way in self._ways():
            self.way = way
            try:
                output = self(vectors, *matrices, parameters=parameters)[0]
                moves = [moved(at, output) for at in (0, -1)]
            except Stopped as stopped:
                stops.append(stopped)
                if not way.mask and not stopped.is_of_shapes:
                    break
                continue
            meets = bool(moves[0][1:].any() or moves[1][:-1].any())
            hides = not self.causal or not (moves[1][:-1].any() or output.isnan().any())
            ran.append((meets + (meets and hides), way, meets))
            if meets and hides:
                break
        one_by_one = not any(meets or way.layout != "tokens first" for _, way, meets in ran)
        if stops and one_by_one:  # what ran, ran on texts of one token
            raise max(stops, key=_progress)
        best, self.way, self.meets = max(ran, key=lambda each: each[0])
        self.understood = best == 2

    def _ways(self) -> Iterator[Way]:
        layouts = ["batch", "tokens first", "plain"] if self.is_closed else ["plain", "batch"]
        if self.takes_vectors and not self.is_closed:
            layouts += ["heads", "tokens first", "heads last"]
        roles = [*self.roles, *(role for _, role in self.options)]
        masks = [Way("")]
        if "mask" in roles and (self.causal or "mask" in self.roles):
            kinds = product((2, 3, 4), ("may", "hide", "may, as 1", "hide, as 1", "added"))
            masks = [Way("", kind, n_axes) for n_axes, kind in kinds]
            masks = masks if self.causal else [Way(""), *masks]
        if "causal" in roles:
            masks += [each._replace(flag=True) for each in (Way(""), *masks)]
            masks = masks if self.causal and "mask" in roles else [Way("", flag=self.causal)]
        for layout, mask in product(layouts, masks):
            yield mask._replace(layout=layout)

    @property
    def asked_for_weights_by(self) -> str:
        """The name of the argument by which weights are asked for; "" for none."""
        names = [*_parameters(self.function)[0], *(name for name, _ in self.options)]
        return next((name for name in names if role_of(name) == "return"), "")

    def _given(self, vectors: Tensor, matrices: tuple[Tensor, ...]) -> list[Any]:
        keys, values = self._texts_of_keys(vectors)
        made = {"x": vectors, "y": values}
        texts = dict(zip("qkv", (vectors, keys, values), strict=True))
        if not self.is_closed:
            made |= zip(("wq", "wk", "wv"), matrices, strict=True)
            made["wo"] = torch.eye(matrices[-1].shape[-1])
            for letter, matrix in zip("qkv", matrices, strict=True):
                made |= {
                    letter: texts[letter] @ matrix,
                    f"b{letter}": torch.zeros(matrix.shape[-1]),
                }
        elif self.takes_vectors:
            made |= texts
        like = next(self.function.parameters(), vectors) if self.is_module else vectors
        like = like.double() if self.takes_arrays else like  # as numpy makes them
        given: list[Any] = []
        for name, role in zip(self.names, self.roles, strict=True):
            if name in self.put:
                given.append(self.put[name])
            elif role in made:
                each = (made[role] if self.with_gradients else made[role].detach()).to(like)
                given.append(self._laid_out(each) if role in ("x", "y", *"qkv") else each)
            else:
                given.append(self._option(role, vectors, matrices))
        return given

    def _texts_of_keys(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """The texts of keys and of values, for each of the texts (text, token, d_in)."""
        keys, values = (e.expand(len(vectors), -1, -1) for e in self.others or (vectors, vectors))
        return keys, values

    def _laid_out(self, vectors: Tensor) -> Tensor:
        layout = self.way.layout
        if layout == "plain" and len(vectors) == 1:
            return vectors[0]
        if layout == "tokens first":
            return vectors.transpose(0, 1)
        if layout.startswith("heads"):
            heads = vectors.unflatten(-1, (self.n_heads, -1))
            return heads.transpose(1, 2) if layout == "heads" else heads
        return vectors

    def _option(self, role: str, vectors: Tensor, matrices: tuple[Tensor, ...]) -> object:
        """What an argument that need not be given gets; None for nothing."""
        keys, values = self._texts_of_keys(vectors)
        if role == "mask":
            n_tokens = vectors.shape[1]
            return self._mask(n_tokens, n_tokens if self.masks_first else keys.shape[1])
        if role in ("k", "v", "y"):
            return self._laid_out(keys if role == "k" else values) if self.others else None
        width = matrices[1].shape[-1] // self.n_heads if matrices else 1
        settings = {
            "heads": self.n_heads,
            "width": width,
            "dropout": 0.0,
            "return": self.asks_weights,
            "at": 0,
        }
        return {**settings, "causal": self.way.flag, "training": False, "average": False}.get(role)

    def _mask(self, n_tokens: int, n_keys: int) -> Tensor | None:
        kind = self.way.mask
        if not kind:
            return None
        may = may_look(n_tokens, self.causal) if n_keys == n_tokens else None
        may = torch.ones(n_tokens, n_keys, dtype=torch.bool) if may is None else may
        mask = may if kind.startswith("may") else ~may
        if kind.endswith("1"):
            mask = mask.float()
        elif kind == "added":
            mask = torch.zeros(may.shape).masked_fill(~may, -torch.inf)
        return mask[(None,) * (self.way.n_axes - 2)]

    def _read(
        self, result: object, vectors: Tensor, wanted: int | None
    ) -> tuple[Tensor, Tensor | None]:
        n_texts, n_tokens = vectors.shape[:2]
        tensors = tensors_in(result)
        backs = [
            (each, back)
            for each in tensors
            if (back := self._back(each)) is not None
            and back.shape[:2] == (n_texts, n_tokens)
            and wanted in (None, back.shape[-1])
        ]
        # Weights are as wide as there are tokens; vectors may be too, by chance.
        backs.sort(key=lambda pair: pair[1].shape[-1] == n_tokens if wanted is None else 0)
        if not backs:
            shapes = [" × ".join(map(str, each.shape)) or "a single number" for each in tensors]
            said = f"its output is {shapes[0]}"
            if wanted is None:
                raise Stopped(f"{said}, with no vector for each of {n_tokens} tokens")
            wide = f"{n_tokens} × {wanted}"
            raise Stopped(
                f"{said}, where {wide} belongs: for each token, a vector as wide as a value"
            )
        mine, output = backs[0]
        tables = (e for e in tensors if e.ndim > 1 and e.shape[-2:] == (n_tokens, n_tokens))
        square = [each for each in tables if each is not mine and each.is_floating_point()]
        weights = None
        if square and n_texts == 1:
            weights = numbers_of(square[0]).reshape(-1, n_tokens, n_tokens)
        return numbers_of(output), weights

    def _back(self, tensor: Tensor) -> Tensor | None:
        """As (text, token, width); None where its axes are others."""
        layout = self.way.layout
        if layout == "plain":
            return tensor[None] if tensor.ndim == 2 else None
        if layout == "tokens first" and tensor.ndim == 3:
            return tensor.transpose(0, 1)
        if tensor.ndim == 4 and layout.startswith("heads"):
            return (tensor.transpose(1, 2) if layout == "heads" else tensor).flatten(2)
        return tensor if tensor.ndim == 3 else None


def _arguments(function: Callable) -> tuple[list[str], list[tuple[str, str]]]:
    """The roles of what must be given by place, and name and role of what may be given beside."""
    names, beside, takes_any = _parameters(function)
    if takes_any and len(names) < 2 and not isinstance(function, nn.Module):
        return ["x", "wq", "wk", "wv"], beside
    roles = [role_of(name) for name in names]
    if not {"q", "wq"} & {*roles}:  # a single letter may be anything
        roles = ["" if name in "dh" else role for name, role in zip(names, roles, strict=True)]
    unknown = [at for at, role in enumerate(roles) if role in ("", "y")]
    roles = ["" if role == "y" else role for role in roles]
    letters = sorted(role for role in roles if role in ("q", "k", "v"))
    matrices = sorted(role for role in roles if role in ("wq", "wk", "wv"))
    n_optional = sum(role in ("k", "v") for _, role in beside)
    if roles[:1] == ["q"] and letters == ["q"] and not unknown and n_optional:
        roles = ["x", *roles[1:]]  # as in forward(query, key=None, value=None)
    elif letters == ["q"] and len(unknown) == 1 and not matrices:  # as in forward(query, context)
        roles = [{"q": "x", "": "y"}.get(role, role) for role in roles]
    elif not letters and len(unknown) == 2 and len(matrices) in (0, 3):
        first, second = unknown if _is_second(*(names[at] for at in unknown)) else unknown[::-1]
        roles[first], roles[second] = "x", "y"
    elif letters == ["k", "q", "v"] and unknown == [0]:
        roles = ["x", *(f"w{role}" if role in "qkv" else role for role in roles[1:])]
    elif len(unknown) == 1 and (not letters or letters == ["q"]) and len(matrices) in (0, 3):
        roles = [role or "x" for role in roles]
    elif not letters and not matrices and len(unknown) in (3, 4, 5):
        found = iter("qkv" if len(unknown) == 3 else ("x", "wq", "wk", "wv", "wo"))
        roles = [role or next(found) for role in roles]
    elif letters != ["k", "q", "v"] or unknown or matrices:
        raise Stopped(
            f"it takes ({', '.join(names)}), and what each of them is cannot be told by its name",
            "not_called",
        )
    return roles, beside


def _parameters(function: Callable) -> tuple[list[str], list[tuple[str, str]], bool]:
    """What must be given by place, what may be given beside, and whether any number is taken."""
    if function is F.scaled_dot_product_attention:  # in C: it tells nothing of its arguments
        return ["query", "key", "value"], [("is_causal", "causal")], False
    found = parameters_of(function)
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [e.name for e in found if e.kind in places and e.default is e.empty]
    beside = [
        (e.name, role_of(e.name))
        for e in found
        if e.name not in required and e.kind in (places[1], e.KEYWORD_ONLY)
    ]
    used = ("mask", "causal", "heads", "average", "return")
    texts = {e.name for e in found if e.default is None and role_of(e.name) in ("k", "v", "y")}
    beside = [(name, role) for name, role in beside if role in used or name in texts]
    masks = [name for name, role in beside if role == "mask"]
    beside = [pair for pair in beside if pair[1] != "mask" or pair[0] == masks[0]]
    takes_any = any(e.kind is e.VAR_POSITIONAL for e in found) or not found
    return required, beside, takes_any


def parameters_of(function: Callable) -> list[inspect.Parameter]:
    """The arguments of a function, or of what a module does; none where they are not told."""
    forward = function.forward if isinstance(function, nn.Module) else function
    try:
        return list(inspect.signature(forward).parameters.values())
    except (TypeError, ValueError):
        return []


def role_of(name: str) -> str:
    """What an argument of this name is; "" where that is not told by it."""
    plain = name.lower().replace("_", "")
    if re.fullmatch("startpos|startposition|inputpos|offset|cacheposition|past(len|length)", plain):
        return "at"
    if re.search("past|cache", plain):
        return "cache"
    if "mask" in plain:
        return "padding" if "pad" in plain else "mask"
    if re.search("lens$|lengths$|^valid", plain):
        return "padding"
    if plain in HEADS:
        return "heads"
    if plain in ("dk", "d", "dhead", "headdim", "dimk", "keydim", "dimkey", "headsize", "dkey"):
        return "width"
    words = {"causal": "causal", "drop": "dropout", "training": "training", "average": "average"}
    for word, role in words.items():
        if word in plain:
            return role
    if re.match("(return|output|need|with|get|give|want|keep).*(att|weight|prob|score)", plain):
        return "return"
    for pattern, kind in ROLES.items():
        found = re.fullmatch(pattern, plain)
        if found:
            return kind + next(filter(None, found.groups()))
    is_number = re.search("len|size|width|dim", plain)
    other = _is_called(name, SECOND) and not _is_called(name, FIRST.removesuffix("|x"))
    return "y" if other and not is_number else ""


def _is_called(name: str, words: str) -> bool:
    """Whether a part of a name begins with one of these words; a single letter is all of a part."""
    parts = re.split("_|(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])", name)
    parts.append(name.replace("_", ""))
    whole = "|".join(word for word in words.split("|") if len(word) < 3)
    longer = "|".join(word for word in words.split("|") if len(word) > 2)
    return any(re.fullmatch(f"(?i)({whole})s?|({longer}).*", part) for part in parts if part)


def _is_second(one: str, other: str) -> bool:
    """Whether the other of two names is that of the text of keys and values."""
    scores = [_is_called(each, SECOND) - _is_called(each, FIRST) for each in (one, other)]
    return scores[1] >= scores[0]


def _progress(stopped: Stopped) -> float:
    """How far the code came before it stopped: to the end, or to which line."""
    if stopped.__cause__ is None:
        return torch.inf
    frames = traceback.extract_tb(stopped.__cause__.__traceback__)
    return next((f.lineno for f in frames if f.filename != __file__), 0)


@contextlib.contextmanager
def stopping(with_gradients: bool = False) -> Iterator[None]:
    """Without printing, and without gradients unless they are wanted; what is raised comes as
    Stopped, all but Ctrl-C.
    """
    process = os.getpid()
    try:
        with contextlib.ExitStack() as quiet:
            quiet.enter_context(torch.set_grad_enabled(with_gradients))
            quiet.enter_context(warnings.catch_warnings(action="ignore"))
            quiet.enter_context(contextlib.redirect_stdout(NOWHERE))
            quiet.enter_context(contextlib.redirect_stderr(NOWHERE))
            yield
    except Stopped:
        raise
    except BaseException as error:  # SystemExit too: it would end the check without a verdict
        # In the command Ctrl-C comes as no KeyboardInterrupt: there it is the code's own.
        by_ctrl_c = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if isinstance(error, KeyboardInterrupt) and by_ctrl_c:
            raise
        raise Stopped(f"it {stop_of(error)}") from error
    finally:
        if os.getpid() != process:  # a copy that the code has forked: one check is enough
            os._exit(0)


def stop_of(error: BaseException) -> str:
    """That something stopped with this error, in one line."""
    try:
        first = str(error)[: 10 * MOST_SAID].strip().partition("\n")[0]
    except Exception:  # what an error says of itself is the learner's code too
        first = "(its message cannot be read)"
    return f"stopped with {type(error).__name__}{f': {first}' if first else ''}"


def printable(text: str) -> str:
    """On one line, not too long, and with a code in place of what a terminal would act on."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: 2 * MOST_SAID])
    return shown if len(shown) <= MOST_SAID else f"{shown[:MOST_SAID]}…"


def tensors_in(result: object) -> list[Tensor]:
    """The tensors that it returned. Raises Stopped for none, and for nested ones."""
    whole = tensor_of(result)
    parts = list(result.values()) if isinstance(result, dict) else result
    found = parts if isinstance(parts, tuple | list) and whole is None else (result,)
    tensors = [made for made in map(tensor_of, found) if made is not None]
    if not tensors:
        raise Stopped(f"it returned {type(result).__name__}, not a tensor")
    if any(each.is_nested for each in tensors):
        raise Stopped("its output is a nested tensor: return an ordinary one, (token, d_value)")
    return tensors


def tensor_of(made: object) -> Tensor | None:
    """A tensor, an array of numpy's or a list of rows as a tensor; None for anything else."""
    if isinstance(made, list) and not any(isinstance(e, Tensor) and e.ndim > 1 for e in made):
        rows = [each for each in map(tensor_of, made) if each is not None]
        is_table = bool(made) and len(rows) == len(made) and len({e.shape for e in rows}) == 1
        return torch.stack(rows) if is_table else None
    is_number = isinstance(made, int | float) or hasattr(made, "__array__")
    return torch.as_tensor(made) if is_number else None


def numbers_of(tensor: Tensor) -> Tensor:
    """Its numbers as a float64 copy. Raises Stopped where they cannot be compared."""
    kind = str(tensor.dtype).removeprefix("torch.")
    if tensor.is_complex():
        raise Stopped(f"its output is {kind}: attention of real numbers gives real numbers")
    if tensor.is_meta:
        raise Stopped("its output is on the device “meta”, where tensors have no numbers")
    if tensor.layout is not torch.strided:
        raise Stopped("its output is sparse: return an ordinary tensor, output.to_dense()")
    if not tensor.is_floating_point():
        raise Stopped(f"its output is {kind}, where numbers with a fraction belong")
    if torch.finfo(tensor.dtype).eps > FEWEST_DIGITS:
        raise Stopped(f"its output is {kind}: {too_few_digits(kind)}")
    return tensor.to("cpu", torch.float64, copy=True)


def too_few_digits(kind: str) -> str:
    """That numbers of this kind are too coarse to tell √d from a little more, and what to do."""
    return f"{kind} has too few digits: check a copy of it in float32, .float()"
