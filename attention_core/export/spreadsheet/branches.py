"""Formulas of operations such as a mask's, that must hold also once their numbers change."""

from functools import singledispatch

from ... import operations as ops
from ...expression import Called, Difference, Number
from ...operations.base import Operand, Operation, line, matched
from .formulas import HIDDEN, Formulas, NoFormula

Index = tuple[int, ...]


@singledispatch
def formula_of(
    operation: Operation, index: Index, operands: tuple[Operand, ...], write: Formulas
) -> str:
    """The formula of one cell, whatever its numbers. Raises NoFormula where no sheet can follow."""
    return write.of(operation.arithmetic(index, *operands))


@formula_of.register
def _(own: ops.MaskedFill, index: Index, operands: tuple, write: Formulas) -> str:
    scores, mask = (write.of(matched(each, index)) for each in operands)
    return f"IF({mask},{scores},{write.of(Number(own.fill))})"


@formula_of.register
def _(own: ops.TopK, index: Index, operands: tuple, write: Formulas) -> str:
    cells, score = line(operands[0], index), write.of(operands[0].cell(index))
    before = f"SUMPRODUCT(--({write.list_of(cells)}>{score}))"
    if index[-1]:
        before += f"+SUMPRODUCT(--({write.list_of(cells[: index[-1]])}={score}))"
    return f"IF({score}{HIDDEN},0,IF({before}<{own.k},1,0))"


@formula_of.register
def _(own: ops.Drop, index: Index, operands: tuple, write: Formulas) -> str:
    weight, draw = (write.of(matched(each, index)) for each in operands)
    probability = write.of(Number(own.probability))
    return f"IF({draw}<{probability},0,{weight}/(1-{probability}))"


@formula_of.register
def _(own: ops.MaskedSoftmax, index: Index, operands: tuple, write: Formulas) -> str:
    cells = line(operands[0], index, own.dim)
    share = write.of(ops.Softmax.arithmetic(own, index, *operands))
    return f"IF(MAX({write.list_of(cells)}){HIDDEN},0,{share})"


@formula_of.register
def _(own: ops.Renormalise, index: Index, operands: tuple, write: Formulas) -> str:
    total = write.list_of(line(operands[0], index))
    return f"IF(SUM({total})=0,0,{write.of(ops.SumNormalise.arithmetic(own, index, *operands))})"


@formula_of.register
def _(own: ops.ExpDifference, index: Index, operands: tuple, write: Formulas) -> str:
    score, largest = (matched(each, index) for each in operands)
    power = write.of(Called(float, "e^{{{}}}", Difference(score, largest)))
    return f"IF({write.of(largest)}{HIDDEN},0,{power})" if own.may_see_nothing else power


@formula_of.register
def _(own: ops.MaskedDivide, index: Index, operands: tuple, write: Formulas) -> str:
    number = write.of(matched(operands[1], index))
    return f"IF({number}=0,0,{write.of(ops.Divide.arithmetic(own, index, *operands))})"


@formula_of.register
def _(_: ops.L2Normalize, index: Index, operands: tuple, write: Formulas) -> str:
    squares = f"SUMSQ({write.list_of(line(operands[0], index))})"
    entry = write.of(operands[0].cell(index))
    return f"IF({squares}=0,0,{entry}/SQRT({squares}))"


@formula_of.register
def _(_: ops.Lookup, index: Index, operands: tuple, write: Formulas) -> str:
    table, ids = operands
    pointer = write.of(ids.cell(index[:1]))
    column, numbers = write.layout.column(table.name, index[1])
    row = f"MATCH({pointer},{numbers},0)" if numbers else f"{pointer}+1"
    return f"INDEX({column},{row})"


@formula_of.register
def _(_: ops.CrossEntropy, index: Index, operands: tuple, write: Formulas) -> str:
    logits, targets = operands
    scores = write.list_of(line(logits, (*index, 0)))
    largest, target = f"MAX({scores})", write.of(targets.cell(index))
    return f"LN(SUMPRODUCT(EXP({scores}-{largest})))+{largest}-INDEX({scores},{target}+1)"


@formula_of.register
def _(_: ops.PairCounts | ops.JoinPair, *__: object) -> str:
    raise NoFormula  # which cells are added, or move up, follows from ids


@formula_of.register
def _(_: ops.AddAtIds, index: Index, operands: tuple, write: Formulas) -> str:
    rows, ids = operands
    pairs = [(ids.cell((at,)), rows.cell((at, index[1]))) for at in range(len(rows.value))]
    return "+".join(f"IF({write.of(id_)}={index[0]},{write.of(cell)},0)" for id_, cell in pairs)


@formula_of.register
def _(_: ops.ShareOfLargest, index: Index, operands: tuple, write: Formulas) -> str:
    own, every = write.of(operands[0].cell(index)), write.list_of(line(operands[0], index))
    return f"IF({own}=MAX({every}),1/COUNTIF({every},MAX({every})),0)"


@formula_of.register
def _(_: ops.ShareOfLarger, index: Index, operands: tuple, write: Formulas) -> str:
    first, second = (write.of(matched(each, index)) for each in operands)
    return f"IF({first}>{second},1,IF({first}={second},0.5,0))"
