"""Small faults that a line of code may have: those of cosmic-ray that are near to what is right,
and some more in its way. Found and made with the text of a file alone; nothing is run here.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.plugins import get_operator
from parso.python.tree import Keyword

BINARY = "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Mul Mod_Mul Pow_Mul BitOr_BitAnd BitAnd_BitOr"
COMPARED = (
    "Lt_LtE Lt_Gt LtE_Lt LtE_GtE Gt_GtE Gt_Lt GtE_Gt GtE_LtE Eq_NotEq NotEq_Eq Is_IsNot IsNot_Is"
)
OTHERS = """ReplaceUnaryOperator_Delete_USub ReplaceUnaryOperator_Delete_Not AddNot NumberReplacer
ReplaceTrueWithFalse ReplaceFalseWithTrue ReplaceAndWithOr ReplaceOrWithAnd ZeroIterationForLoop
ReplaceBreakWithContinue ReplaceContinueWithBreak ExceptionReplacer RemoveDecorator"""
NAMES = [
    *(f"core/ReplaceBinaryOperator_{each}" for each in BINARY.split()),
    *(f"core/ReplaceComparisonOperator_{each}" for each in COMPARED.split()),
    *(f"core/{each}" for each in OTHERS.split()),
]
"""Of cosmic-ray's. Left out is what nobody would write, such as `>>` in the place of `+`: that no
test could miss, and to catch it says nothing.
"""


class Drops(Operator):
    """Leaves out children of a node."""

    def places(self, node) -> Iterator[slice]:
        """The children that may be left out, each slice by itself."""
        raise NotImplementedError

    def mutation_positions(self, node):
        for each in self.places(node):
            gone = node.children[each]
            yield gone[0].start_pos, gone[-1].end_pos

    def mutate(self, node, index):
        before = node.get_first_leaf().prefix
        del node.children[[*self.places(node)][index]]
        node.get_first_leaf().prefix = before  # which a line is indented with
        return node


class DropOperand(Drops):
    """One of those that are added, multiplied, or joined by `and` or `or`."""

    def places(self, node):
        if node.type in ("arith_expr", "term", "and_test", "or_test"):
            yield from (slice(at, at + 2) for at in range(0, len(node.children) - 1, 2))
            yield slice(-2, None)

    @classmethod
    def examples(cls):
        return (
            Example("a + b * c", "b * c"),
            Example("x = a and b", "x = a", occurrence=1),
            Example("x = a - b - c", "x = a - c", occurrence=1),
        )


class DropNamedArgument(Drops):
    """One that is given by its name."""

    def places(self, node):
        if node.type == "trailer" and node.children[0] == "(" and _is_named(node.children[1]):
            yield slice(1, 2)
        if node.type == "arglist":
            last = len(node.children) - 1
            for at, each in enumerate(node.children):
                if _is_named(each):
                    yield slice(at, at + 2) if at < last else slice(at - 1, None)

    @classmethod
    def examples(cls):
        return (Example("f(a, b=1)", "f(a)"), Example("f(b=1)", "f()"))


def _is_named(node) -> bool:
    return node.type == "argument" and node.children[1] == "="


class DropCondition(Drops):
    """What is asked of those that a comprehension takes."""

    def places(self, node):
        if node.type == "sync_comp_for" and node.children[-1].type == "comp_if":
            yield slice(-1, None)

    @classmethod
    def examples(cls):
        return (Example("[x for x in y if x > 1]", "[x for x in y]"),)


class DropStatement(Operator):
    """A call, a refusal, an early end, or what is set in something else."""

    def mutation_positions(self, node):
        if node.type == "simple_stmt" and _does_something(node.children[0]):
            yield node.children[0].start_pos, node.children[0].end_pos

    def mutate(self, node, index):  # noqa: ARG002
        first = node.get_first_leaf()
        node.children[0] = Keyword("pass", first.start_pos, first.prefix)
        return node

    @classmethod
    def examples(cls):
        return (
            Example("f(a)\n", "pass\n"),
            Example("a.b += 1\n", "pass\n"),
            Example("a[0] = 1\n", "pass\n"),
        )


def _does_something(node) -> bool:
    if node.type in ("raise_stmt", "del_stmt") or node == "return":
        return True
    if node.type == "expr_stmt":
        target = node.children[0].type
        is_added = getattr(node.children[1], "type", "") == "operator" and node.children[1] != "="
        return is_added or target in ("power", "atom_expr")
    return node.type in ("power", "atom_expr") and node.children[-1].children[0] == "("


class ChooseArm(Operator):
    """Of `a if c else b` always the same."""

    def mutation_positions(self, node):
        if node.type == "test":
            yield from ((node.start_pos, node.end_pos) for _ in range(2))

    def mutate(self, node, index):
        arm = node.children[4 * index]
        arm.get_first_leaf().prefix = node.get_first_leaf().prefix
        return arm

    @classmethod
    def examples(cls):
        return (
            Example("x = a if c else b", "x = a"),
            Example("x = a if c else b", "x = b", occurrence=1),
        )


OURS = (DropOperand, DropNamedArgument, DropCondition, DropStatement, ChooseArm)


def operators() -> dict[str, Operator]:
    """By name."""
    known = {name.removeprefix("core/"): get_operator(name)() for name in NAMES}
    return known | {each.__name__: each() for each in OURS}


OPERATORS = operators()


@dataclass(frozen=True)
class Fault:
    """One change of a file: the `occurrence`-th place of an operator there."""

    file: str
    operator: str
    occurrence: int
    line: int

    def made_in(self, code: str) -> str:
        return mutate_code(code, OPERATORS[self.operator], self.occurrence)


def faults_of(file: str, code: str) -> Iterator[Fault]:
    """All that can be made in a file, but for what only a reader of types would see, and for checks
    that two lists are as long, which do nothing as long as they are.
    """
    nodes, aside = [*ast_nodes(get_ast(code))], [*_aside(ast.parse(code))]
    for name, operator in OPERATORS.items():
        places = (place for node in nodes for place in operator.mutation_positions(node))
        for occurrence, (start, end) in enumerate(places):
            is_aside = any(first <= start and end <= last for first, last in aside)
            if name == "RemoveDecorator" or not is_aside:
                yield Fault(file, name, occurrence, start[0])


def _aside(tree: ast.AST) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where annotations stand, what decorators are given, and `strict` of a zip."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip":
            last = node.args[-1]
            if [each.arg for each in node.keywords] == ["strict"]:
                yield (last.end_lineno, last.end_col_offset), (node.end_lineno, node.end_col_offset)
        asides = [*getattr(node, "decorator_list", ())]
        asides += [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            asides.append(node)
        for each in filter(None, asides):
            # Of a letter, ast counts the bytes: those of a line before it may be several.
            yield (each.lineno, each.col_offset), (each.end_lineno, each.end_col_offset)


def difference(code: str, other: str) -> tuple[str, str]:
    """The lines that differ, of the one and of the other, without what stands around them."""
    one, two = code.splitlines(), other.splitlines()
    least = min(len(one), len(two))
    first = next((at for at in range(least) if one[at] != two[at]), least)
    same = next((at for at in range(least - first) if one[-1 - at] != two[-1 - at]), least - first)
    parts = (lines[first : len(lines) - same] for lines in (one, two))
    told = [" ".join(line.strip() for line in part) for part in parts]
    return told[0], told[1]


def place_of(code: str, line: int) -> tuple[str, int, int, bool]:
    """Of a line: which definition it is in, the statement's lines, whether it runs at import."""
    names, at_import = [], True
    first = last = line
    nodes: list[ast.AST] = [ast.parse(code)]
    while nodes:
        inner = [each for each in ast.iter_child_nodes(nodes.pop()) if _has(each, line)]
        for each in inner:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.append(each.name)
                is_body = each.body[0].lineno <= line
                at_import &= isinstance(each, ast.ClassDef) or not is_body
            if isinstance(each, ast.stmt):
                first, last = each.lineno, each.end_lineno
                body = getattr(each, "body", None)
                if body and line < body[0].lineno:  # its head, as `if …:`
                    last = body[0].lineno - 1
        nodes = (
            inner[:1]
            if not any(isinstance(i, ast.stmt) for i in inner)
            else [each for each in inner if isinstance(each, ast.stmt)]
        )
    return ".".join(names), first, max(last, line), at_import


def _has(node: ast.AST, line: int) -> bool:
    first = getattr(node, "lineno", None)
    if first is None:  # such as arguments, which have no place of their own
        return any(_has(each, line) for each in ast.iter_child_nodes(node))
    for each in getattr(node, "decorator_list", ()):
        first = min(first, each.lineno)
    return first <= line <= node.end_lineno
