"""The operations a trace is made of, one small class each."""

from .base import Operation
from .combine import Add, Multiply, RunningSum, Scale, ScaleRow, SumLast
from .entrywise import Cast, Exp, Magnify, Shift
from .given import Draw, Edit, Encode, Given, Sinusoid
from .normalise import Softmax, SumNormalise, UnitRows
from .product import MatMul, MatMulByLoop, MatVec
from .rowwise import Divide, RowLargest, RowSum, SoftmaxJacobian, Subtract
from .select import Lookup, OneHot, Row

__all__ = [
    "Add",
    "Cast",
    "Divide",
    "Draw",
    "Edit",
    "Encode",
    "Exp",
    "Given",
    "Lookup",
    "Magnify",
    "MatMul",
    "MatMulByLoop",
    "MatVec",
    "Multiply",
    "OneHot",
    "Operation",
    "Row",
    "RowLargest",
    "RowSum",
    "RunningSum",
    "Scale",
    "ScaleRow",
    "Shift",
    "Sinusoid",
    "Softmax",
    "SoftmaxJacobian",
    "Subtract",
    "SumLast",
    "SumNormalise",
    "UnitRows",
]
