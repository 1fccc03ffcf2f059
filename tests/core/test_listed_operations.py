"""`python -m attention_core.operations` lists every operation and every piece of arithmetic."""

import ast
import inspect
import re

from attention_core import expression
from attention_core import operations as ops
from attention_core.operations.__main__ import listed


def test_every_operation_and_every_piece_of_arithmetic_has_its_line():
    written = ast.parse(inspect.getsource(expression)).body
    classes = {node.name for node in written if isinstance(node, ast.ClassDef)}
    pieces = {name for name in classes if not name.startswith("_")} - {"Expression"}
    lines = dict(re.findall(r"^  (\w+)\(.*?\):\s+(\S.*)", listed(), re.MULTILINE))
    assert lines.keys() == {*ops.__all__} - {"Operation"} | pieces


def test_every_file_of_operations_has_its_heading():
    files = {kind.__module__ for kind in map(vars(ops).get, ops.__all__)} - {ops.base.__name__}
    for module in {*files, expression.__name__}:
        assert f"({module.replace('.', '/')}.py)" in listed()


def test_what_learners_call_cosine_and_temperature_is_found():
    for word, of in {"cosine": "L2Normalize", "temperature": "ScaleBy", "Dropout": "Drop"}.items():
        assert re.search(rf"{of}\([^()]*\):[^:]*{word}", listed())
