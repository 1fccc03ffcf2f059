"""Formulas of operations whose arithmetic is another one in another state, such as a mask's.

An arithmetic tells what happened to these numbers; a formula must also hold once they change.
"""

from collections.abc import Callable

from ...expression import Called, Difference, Number
from ...operations import (
    AddAtIds,
    CrossEntropy,
    Drop,
    ExpDifference,
    L2Normalize,
    Lookup,
    MaskedDivide,
    MaskedFill,
    MaskedSoftmax,
    Renormalise,
    ShareOfLarger,
    ShareOfLargest,
    Softmax,
    SumNormalise,
)
from ...operations.base import Operand, Operation, line, matched, row
from ...operations.rowwise import Divide
from .formulas import HIDDEN, Formulas

Index = tuple[int, ...]


def formula_of(
    operation: Operation, index: Index, operands: tuple[Operand, ...], write: Formulas
) -> str:
    """The formula of one cell, which holds whatever the numbers become. Raises NoFormula where a
    sheet cannot follow.
    """
    for kind in type(operation).__mro__:
        if kind in BRANCHES:
            return BRANCHES[kind](operation, index, operands, write)
    return write.of(operation.arithmetic(index, *operands))


def _masked_fill(own: MaskedFill, index: Index, operands: tuple, write: Formulas) -> str:
    scores, mask = (write.of(matched(each, index)) for each in operands)
    return f"IF({mask},{scores},{write.of(Number(own.fill))})"


def _drop(own: Drop, index: Index, operands: tuple, write: Formulas) -> str:
    weight, draw = (write.of(matched(each, index)) for each in operands)
    probability = write.of(Number(own.probability))
    return f"IF({draw}<{probability},0,{weight}/(1-{probability}))"


def _masked_softmax(own: MaskedSoftmax, index: Index, operands: tuple, write: Formulas) -> str:
    cells = line(operands[0], index, own.dim)
    share = write.of(Softmax.arithmetic(own, index, *operands))
    return f"IF(MAX({write.list_of(cells)}){HIDDEN},0,{share})"


def _renormalise(own: Renormalise, index: Index, operands: tuple, write: Formulas) -> str:
    total = write.list_of(row(operands[0], index))
    return f"IF(SUM({total})=0,0,{write.of(SumNormalise.arithmetic(own, index, *operands))})"


def _exp_difference(own: ExpDifference, index: Index, operands: tuple, write: Formulas) -> str:
    score, largest = (matched(each, index) for each in operands)
    power = write.of(Called(float, "e^{{{}}}", Difference(score, largest)))
    return f"IF({write.of(largest)}{HIDDEN},0,{power})" if own.may_see_nothing else power


def _masked_divide(own: MaskedDivide, index: Index, operands: tuple, write: Formulas) -> str:
    number = write.of(matched(operands[1], index))
    return f"IF({number}=0,0,{write.of(Divide.arithmetic(own, index, *operands))})"


def _unit(_: L2Normalize, index: Index, operands: tuple, write: Formulas) -> str:
    squares = f"SUMSQ({write.list_of(row(operands[0], index))})"
    entry = write.of(operands[0].cell(index))
    return f"IF({squares}=0,0,{entry}/SQRT({squares}))"


def _lookup(_: Lookup, index: Index, operands: tuple, write: Formulas) -> str:
    table, ids = operands
    pointer = write.of(ids.cell(index[:1]))
    column, numbers = write.layout.column(table.name, index[1])
    row = f"MATCH({pointer},{numbers},0)" if numbers else f"{pointer}+1"
    return f"INDEX({column},{row})"


def _cross_entropy(_: CrossEntropy, index: Index, operands: tuple, write: Formulas) -> str:
    logits, targets = operands
    scores = write.list_of(row(logits, (*index, 0)))
    largest, target = f"MAX({scores})", write.of(targets.cell(index))
    return f"LN(SUMPRODUCT(EXP({scores}-{largest})))+{largest}-INDEX({scores},{target}+1)"


def _add_at_ids(_: AddAtIds, index: Index, operands: tuple, write: Formulas) -> str:
    rows, ids = operands
    pairs = [(ids.cell((at,)), rows.cell((at, index[1]))) for at in range(len(rows.value))]
    return "+".join(f"IF({write.of(id_)}={index[0]},{write.of(cell)},0)" for id_, cell in pairs)


def _share_of_largest(_: ShareOfLargest, index: Index, operands: tuple, write: Formulas) -> str:
    own, every = write.of(operands[0].cell(index)), write.list_of(row(operands[0], index))
    return f"IF({own}=MAX({every}),1/COUNTIF({every},MAX({every})),0)"


def _share_of_larger(_: ShareOfLarger, index: Index, operands: tuple, write: Formulas) -> str:
    first, second = (write.of(matched(each, index)) for each in operands)
    return f"IF({first}>{second},1,IF({first}={second},0.5,0))"


BRANCHES: dict[type[Operation], Callable[..., str]] = {
    MaskedFill: _masked_fill,
    Drop: _drop,
    MaskedSoftmax: _masked_softmax,
    Renormalise: _renormalise,
    ExpDifference: _exp_difference,
    MaskedDivide: _masked_divide,
    L2Normalize: _unit,
    Lookup: _lookup,
    CrossEntropy: _cross_entropy,
    AddAtIds: _add_at_ids,
    ShareOfLargest: _share_of_largest,
    ShareOfLarger: _share_of_larger,
}
