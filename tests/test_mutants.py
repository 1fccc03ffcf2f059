"""What `make mutants` makes and knows: which faults there are, and those that nothing notices."""

import ast
import textwrap
from collections import Counter

import pytest
from cosmic_ray.mutating import mutate_code

from faults import OURS, difference, faults_of, place_of
from mutants import MUTATED, REASONS, ROOT, sample, survivors

CODE = '''"""Adds."""

LIMITS: tuple[int, int | None] = (1, 2)


@cache(size=3)
def added(numbers: list[int], *, most: int = 4) -> int | None:
    if numbers and len(numbers) < most:
        raise ValueError("too few")
    return sum(each for each in numbers if each > 0)
'''


@pytest.mark.parametrize("operator", OURS)
def test_a_fault_is_made_as_its_example_says(operator):
    for each in operator.examples():
        made = mutate_code(each.pre_mutation_code, operator(), each.occurrence)
        assert made == each.post_mutation_code


def test_faults_are_where_something_is_done_and_each_is_another_program():
    found = [*faults_of("a.py", CODE)]
    made = {each: each.made_in(CODE) for each in found}
    programs = Counter(ast.dump(ast.parse(code)) for code in made.values())
    assert ast.dump(ast.parse(CODE)) not in programs
    lines = {each.line: [one.operator for one in found if one.line == each.line] for each in found}
    assert {*lines} == {3, 6, 7, 8, 9, 10}
    assert lines[3] == ["NumberReplacer"] * 4, "not what is only said of its type"
    assert lines[6] == ["RemoveDecorator"]
    assert {"ReplaceComparisonOperator_Lt_LtE", "AddNot", "DropOperand"} <= {*lines[8]}
    assert lines[9] == ["DropStatement"]
    assert "DropCondition" in lines[10]
    dropped = next(each for each in found if each.operator == "DropCondition")
    told = (
        "return sum(each for each in numbers if each > 0)",
        "return sum(each for each in numbers)",
    )
    assert difference(CODE, made[dropped]) == told


def test_a_check_that_lists_are_as_long_is_no_place_for_a_fault():
    code = "made = zip(few, f(more=True), strict=True)\n"
    assert {each.made_in(code) for each in faults_of("a.py", code)} == {
        code.replace("more=True", "more=False"), code.replace("more=True", "")
    }  # fmt: skip
    long = "made = zip(\n    one,\n    other,\n    strict=True,\n)\n"
    assert not [*faults_of("a.py", long)]


def test_a_line_is_found_in_its_statement_and_runs_at_import_or_does_not():
    assert place_of(CODE, 3) == ("", 3, 3, True)
    assert place_of(CODE, 7) == ("added", 7, 7, True)
    assert place_of(CODE, 8) == ("added", 8, 8, False)
    assert place_of(CODE, 9) == ("added", 9, 9, False)
    several = "def f():\n    return [\n        1,\n        2,\n    ]\n"
    assert place_of(several, 4) == ("f", 2, 5, False)


def test_a_seed_draws_the_same_and_more_begins_with_less():
    within = MUTATED[-1]
    assert sample(9, 3, within)[:5] == sample(5, 3, within) != sample(5, 4, within)


def pieces_with(code, line):
    """Functions and statements of a module that have a line of these words, each by itself: to
    make faults in all of a file takes long.
    """
    lines, tree = code.splitlines(), ast.parse(code)
    known = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    known += [each for each in tree.body if not isinstance(each, ast.ClassDef)]
    for each in known:
        first = min([one.lineno for one in getattr(each, "decorator_list", ())] + [each.lineno])
        own = lines[first - 1 : each.end_lineno]
        if any(one.strip() and one.strip() in line for one in own):
            yield "\n\n" + textwrap.dedent("\n".join(own)) + "\n"


def test_what_is_known_to_survive_can_still_be_made_and_has_a_reason():
    for (name, line, becomes), told in survivors().items():
        assert told["reason"] in REASONS
        assert len(told["why"]) > 20, line
        pieces = pieces_with((ROOT / name).read_text(encoding="utf-8"), line)
        made = (
            difference(piece, each.made_in(piece))
            for piece in sorted(pieces, key=lambda piece: (line not in piece, len(piece)))
            for each in faults_of(name, piece)
        )
        assert (line, becomes) in made, (
            f"no fault of {name} turns “{line}” into “{becomes}”: take it off the list"
        )
