"""The operations a trace is made of, one small class each."""

from .base import Operation
from .combine import Add, Multiply, RunningSum, Scale, ScaleRow, SumLast
from .given import Draw, Edit, Encode, Given, Sinusoid
from .normalise import Softmax, SumNormalise, UnitRows
from .product import MatMul, MatMulByLoop
from .select import Lookup, OneHot, Row

__all__ = [
    "Add",
    "Draw",
    "Edit",
    "Encode",
    "Given",
    "Lookup",
    "MatMul",
    "MatMulByLoop",
    "Multiply",
    "OneHot",
    "Operation",
    "Row",
    "RunningSum",
    "Scale",
    "ScaleRow",
    "Sinusoid",
    "Softmax",
    "SumLast",
    "SumNormalise",
    "UnitRows",
]
