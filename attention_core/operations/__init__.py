"""The operations a trace is made of, one small class each."""

from .base import Operation
from .combine import Add, Multiply, RunningSum, Scale, ScaleRow, ShiftRow, Subtract, SumLast
from .distances import DistanceBias
from .entrywise import Cast, Exp, Magnify, Shift, SoftCap
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
from .layer_norm import RowMean, RowVariance, ScaleShift, Standardise
from .layers import GELU, LayerNorm, ReLU
from .masks import Drop, Hide, MayLook, Renormalise
from .normalise import Softmax, SoftmaxOfSeen, SumNormalise, UnitRows
from .positions import Both, LookWithin, LookWithinLengths
from .product import Affine, BatchedMatMul, Linear, MatMul, MatMulByLoop, MatMulUpright, MatVec
from .rotary import RotaryAngles, Rotate
from .rowwise import Divide, RowLargest, RowSum, SoftmaxJacobian
from .running import DivideSeen, ExpLess, Larger, Shrink, ShrinkAndAdd
from .select import Lookup, OneHot, Row
from .shared_heads import (
    Columns,
    JoinHeadsInBatch,
    JoinRows,
    MeanHeads,
    RepeatHeads,
    Rows,
    SplitHeadsInBatch,
)
from .stored import Stored

__all__ = [
    "GELU",
    "Add",
    "Affine",
    "BatchedMatMul",
    "Both",
    "Cast",
    "Columns",
    "DistanceBias",
    "Divide",
    "DivideSeen",
    "Draw",
    "Drop",
    "Edit",
    "Encode",
    "Exp",
    "ExpLess",
    "Given",
    "Hide",
    "JoinHeads",
    "JoinHeadsInBatch",
    "JoinRows",
    "Larger",
    "LayerNorm",
    "Linear",
    "LookWithin",
    "LookWithinLengths",
    "Lookup",
    "Magnify",
    "MatMul",
    "MatMulByLoop",
    "MatMulUpright",
    "MatVec",
    "MayLook",
    "MeanHeads",
    "Multiply",
    "OneHot",
    "Operation",
    "Permute",
    "ReLU",
    "Renormalise",
    "Repeat",
    "RepeatHeads",
    "RotaryAngles",
    "Rotate",
    "Row",
    "RowLargest",
    "RowMean",
    "RowSum",
    "RowVariance",
    "Rows",
    "RowsOfHeads",
    "RunningSum",
    "Scale",
    "ScaleRow",
    "ScaleShift",
    "Shift",
    "ShiftRow",
    "Shrink",
    "ShrinkAndAdd",
    "Sinusoid",
    "SoftCap",
    "Softmax",
    "SoftmaxJacobian",
    "SoftmaxOfSeen",
    "SplitHeads",
    "SplitHeadsInBatch",
    "SplitWithoutTranspose",
    "Standardise",
    "Stored",
    "Subtract",
    "SumHeads",
    "SumLast",
    "SumNormalise",
    "SwitchOff",
    "Transpose",
    "UnitRows",
]
