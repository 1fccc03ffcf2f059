"""The operations a trace is made of, one small class each."""

from .base import Operation
from .combine import Add, Multiply, RunningSum, Scale, ScaleRow, ShiftRow, Subtract, SumLast
from .entrywise import Cast, Exp, Magnify, Shift
from .given import Draw, Edit, Encode, Given, Sinusoid
from .heads import (
    JoinHeads,
    Permute,
    Repeat,
    RowsOfHeads,
    SplitHeads,
    SplitWithoutTranspose,
    SumHeads,
    SwitchOff,
    Transpose,
)
from .layers import LayerNorm, ReLU
from .masks import Drop, Hide, MayLook, Renormalise
from .normalise import Softmax, SoftmaxOfSeen, SumNormalise, UnitRows
from .product import Affine, BatchedMatMul, Linear, MatMul, MatMulByLoop, MatMulUpright, MatVec
from .rowwise import Divide, RowLargest, RowSum, SoftmaxJacobian
from .select import Lookup, OneHot, Row

__all__ = [
    "Add",
    "Affine",
    "BatchedMatMul",
    "Cast",
    "Divide",
    "Draw",
    "Drop",
    "Edit",
    "Encode",
    "Exp",
    "Given",
    "Hide",
    "JoinHeads",
    "LayerNorm",
    "Linear",
    "Lookup",
    "Magnify",
    "MatMul",
    "MatMulByLoop",
    "MatMulUpright",
    "MatVec",
    "MayLook",
    "Multiply",
    "OneHot",
    "Operation",
    "Permute",
    "ReLU",
    "Renormalise",
    "Repeat",
    "Row",
    "RowLargest",
    "RowSum",
    "RowsOfHeads",
    "RunningSum",
    "Scale",
    "ScaleRow",
    "Shift",
    "ShiftRow",
    "Sinusoid",
    "Softmax",
    "SoftmaxJacobian",
    "SoftmaxOfSeen",
    "SplitHeads",
    "SplitWithoutTranspose",
    "Subtract",
    "SumHeads",
    "SumLast",
    "SumNormalise",
    "SwitchOff",
    "Transpose",
    "UnitRows",
]
