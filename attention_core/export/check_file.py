"""The file that checks a learner's own attention, on the learner's own machine."""

import ast
import inspect
from importlib import import_module
from pprint import pformat

from ..utils.validation import validated

NAME = "check_my_attention.py"
OPENING = '''\
"""Check an attention of your own, light by light. It needs torch and nothing else.

    from check_my_attention import check
    check(attention)               # attention(x, W_q, W_k, W_v), with x (token, d_in)
    check(attention, causal=True)  # later tokens should be hidden; n_heads=3 where it splits heads
    check(nn.MultiheadAttention(12, 3, batch_first=True))  # or an nn.Module of your own

or `python check_my_attention.py my_file.py:attention --causal`. It names the first property that
does not hold, and what is likely wrong. Nothing leaves your computer. The command runs your code in
a process of its own, for a minute at most (--seconds), and says so where that ends without a
verdict, as by os._exit(0). check(...) in your own program ends with it, and has no limit of time.
"""
'''
START = """\
if __name__ == "__main__" and IS_TRIAL not in os.environ:
    sys.exit(tried())
"""
END = """\
if __name__ == "__main__":
    sys.exit(with_verdict(main))
"""
OWN = "arrays calling sentences opened subjects in_use naming report checking command"
FIRST = ("own_code.trial", "light", "measures", "own_code.reading")
NAMES = (*FIRST, *(f"own_code.{name}" for name in OWN.split()))
PARTS = tuple(import_module(f"..lights.{name}", __package__) for name in NAMES)
"""The modules that the file is made of, each after those that it needs."""


@validated
def check_file() -> str:
    """The file's text: a program that needs torch and the standard library alone."""
    imported: dict[str, set[str]] = {}
    bodies = []
    for part in PARTS:
        source = inspect.getsource(part)
        lines = source.splitlines()
        opening, *statements = ast.parse(source).body
        imports = [each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)]
        for node in (opening, *imports):
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
        for node in imports:
            if isinstance(node, ast.Import):
                imported.setdefault(ast.unparse(node), set())
            elif not node.level:
                names = {ast.unparse(name) for name in node.names}
                imported.setdefault(f"from {node.module} import ", set()).update(names)
        for node in statements:
            if isinstance(node, ast.Assign) and "read_toml(" in ast.unparse(node.value):
                (name,) = map(ast.unparse, node.targets)  # words of a file, which stays here
                lines[node.lineno - 1 : node.end_lineno] = [
                    f"{name} = {pformat(getattr(part, name), sort_dicts=False)}"
                ]
        title = part.__name__.rpartition(".")[2].replace("_", " ")
        bodies.append(f"# --- {title} ---\n\n\n" + "\n".join(lines).strip())
    lines = [start + ", ".join(sorted(names)) for start, names in imported.items()]
    lines.sort(key=lambda line: (line.startswith("from"), line))
    own, torchs = (
        [line for line in lines if ("torch" in line) is is_torchs] for is_torchs in (False, True)
    )
    first, *others = bodies
    start = ["\n".join([OPENING, *own]), first, START + "\n" + "\n".join(torchs)]
    return "\n\n\n".join([*start, *others, END])
