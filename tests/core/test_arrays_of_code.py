"""Whether code expects numpy's arrays or torch's tensors, by what it and its helpers mention."""

import functools
import textwrap

import numpy
import pytest
import torch

from attention_core.lights.measures import most
from attention_core.lights.own_code.arrays import array_of, kinds_expected, widths_of

ARRAYS, TENSORS, EITHER = [True], [False], [False, True]
CODE = {
    "plain": ("def it(q, k, v): return q @ k.T @ v", EITHER),
    "package": ("import numpy as np\ndef it(q): return np.exp(q)", ARRAYS),
    "other package": ("import torch\ndef it(q): return torch.exp(q)", TENSORS),
    "both": ("import numpy as np, torch\ndef it(q): return np.exp(torch.ones(2))", EITHER),
    "a part of it": ("from torch.nn import functional as F\ndef it(q): return F.relu(q)", TENSORS),
    "a name of it": ("from numpy import exp\ndef it(q): return exp(q)", ARRAYS),
    "imported within": ("def it(q):\n    import numpy\n    return numpy.exp(q)", ARRAYS),
    "helper": ("import numpy as np\ndef f(x): return np.exp(x)\ndef it(q): return f(q)", ARRAYS),
    "helpers that call each other": (
        "import numpy as np\ndef f(x): return it(x)\ndef it(q): return f(np.exp(q))",
        ARRAYS,
    ),
    "class as helper": (
        "import numpy as np\nclass C:\n  def f(self, x): return np.exp(x)\n"
        "def it(q): return C().f(q)",
        ARRAYS,
    ),
    "static method": (
        "import numpy as np\nclass C:\n  @staticmethod\n  def it(q): return np.exp(q)\nit = C.it",
        ARRAYS,
    ),
    "method": (
        "import numpy as np\nclass C:\n  def it(self, q): return np.exp(q)\nit = C().it",
        ARRAYS,
    ),
    "called object": (
        "import numpy as np\nclass C:\n  def __call__(self, q): return np.exp(q)\nit = C()",
        ARRAYS,
    ),
    "within": ("import numpy as np\ndef it(q): return [np.exp(x) for x in q]", ARRAYS),
    "inner function": (
        "import numpy as np\ndef it(q):\n  def f(x): return np.exp(x)\n  return f(q)",
        ARRAYS,
    ),
    "closed over": (
        "import numpy\ndef make():\n  np = numpy\n  def it(q): return np.exp(q)\n  return it\n"
        "it = make()",
        ARRAYS,
    ),
    "annotated": ("import numpy as np\ndef it(q: np.ndarray): return q @ q.T", ARRAYS),
    "annotated, of torch": ("import torch\ndef it(q: torch.Tensor): return q @ q.T", TENSORS),
    "a table": ("import numpy as np\nW = np.ones((2, 3))\ndef it(q): return q @ W", ARRAYS),
    "an empty cell": (
        "def make():\n  def it(q): return later(q)\n  return it\n  later = it\nit = make()",
        EITHER,
    ),
}


def made(code):
    names = {"__name__": "learner"}
    exec(textwrap.dedent(code), names)
    return names["it"]


@pytest.mark.parametrize("name", CODE)
def test_code_is_given_what_it_mentions(name):
    code, expected = CODE[name]
    function = made(code)
    assert kinds_expected(function) == expected
    assert kinds_expected(functools.partial(function)) == expected


def test_a_wrapped_function_is_looked_into_and_a_module_is_given_tensors():
    inner = made(CODE["package"][0])
    wrapper = functools.wraps(inner)(lambda *given: inner(*given))
    assert kinds_expected(wrapper) == ARRAYS
    assert kinds_expected(torch.nn.Linear(2, 3)) == TENSORS


def test_a_tensor_becomes_an_array_of_the_same_numbers():
    tensor = torch.ones(2)
    array_of(tensor)[0] = 5
    assert isinstance(array_of(tensor), numpy.ndarray)
    assert tensor.tolist() == [5, 1]
    assert array_of("text") == "text"


def test_widths_are_those_of_the_tables_that_an_object_keeps():
    class Holder:
        kind = numpy.ndarray

        def __init__(self):
            self.W, self.b = numpy.ones((3, 5)), numpy.ones(7)
            self.U, self.stack = torch.ones(5, 11), torch.ones(2, 13, 17)
            self.kind, self.text = numpy.ndarray, "words"

        def it(self, x):
            return x

    assert widths_of(Holder()) == widths_of(Holder().it) == [3, 5, 11]
    assert widths_of(made(CODE["plain"][0])) == []


def test_the_largest_of_nothing_and_of_what_is_no_number():
    assert most(torch.tensor([])) == most(torch.zeros(3)) == 1e-9
    assert most(torch.tensor([[-3.0, torch.nan], [torch.inf, 2.0]])) == 3.0
