"""The operations a trace is made of, one small class each."""

from .base import Operation
from .combine import Add, Multiply, RunningSum, Scale, ScaleRow, ShiftRow, Subtract, SumLast
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
from .product import Affine, BatchedMatMul, Linear, MatMul, MatMulByLoop, MatMulUpright
from .select import Lookup, OneHot, Row

__all__ = [
    "Add",
    "Affine",
    "BatchedMatMul",
    "Draw",
    "Drop",
    "Edit",
    "Encode",
    "Given",
    "Hide",
    "JoinHeads",
    "LayerNorm",
    "Linear",
    "Lookup",
    "MatMul",
    "MatMulByLoop",
    "MatMulUpright",
    "MayLook",
    "Multiply",
    "OneHot",
    "Operation",
    "Permute",
    "ReLU",
    "Renormalise",
    "Repeat",
    "Row",
    "RowsOfHeads",
    "RunningSum",
    "Scale",
    "ScaleRow",
    "ShiftRow",
    "Sinusoid",
    "Softmax",
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
