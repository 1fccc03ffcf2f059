"""The operations a trace is made of, one small class each."""

from .base import Operation
from .combine import (
    Add,
    Multiply,
    RunningSum,
    Scale,
    ScaleRow,
    ShiftRow,
    Subtract,
    SumFromHere,
    SumLast,
)
from .distances import DistanceBias
from .entrywise import Cast, Exp, ScaleBy, Shift, SoftCap, Square
from .given import Draw, Edit, Encode, Given, Sinusoid
from .heads import (
    JoinHeads,
    JoinRowsOfHeads,
    Permute,
    RowsOfHeads,
    SplitHeads,
    SplitWithoutTranspose,
    SumHeads,
    SwitchOff,
    Transpose,
)
from .layer_norm import DivideByRoot, RowMean, RowMeanSquare, RowVariance, ScaleShift, Standardise
from .layers import GELU, LayerNorm, ReLU, SiLU
from .losses import CrossEntropy, Entry, Mean, PutEntry
from .masks import AttentionMask, Drop, MaskedFill, MaskGradient, Renormalise
from .normalise import L2Normalize, MaskedSoftmax, Softmax, SumNormalise
from .positions import LengthMask, LogicalAnd, WindowMask
from .product import Affine, BatchedMatMul, Linear, MatMul, MatMulByLoop, MatMulUpright, MatVec
from .rotary import RotaryAngles, Rotate
from .rowwise import Divide, RowLargest, RowSum, SoftmaxJacobian
from .running import ExpDifference, MaskedDivide, Rescale, RescaleAndAdd, RunningMaximum
from .select import Lookup, OneHot, Row
from .shared_heads import (
    Columns,
    JoinRows,
    MeanHeads,
    RepeatHeads,
    Rows,
)
from .slopes import (
    GELUSlope,
    ReLUSlope,
    RowLength,
    ShareOfLarger,
    ShareOfLargest,
    SiLUSlope,
    SoftCapSlope,
)
from .spread import (
    AddAtIds,
    Copied,
    PutBack,
    Repeat,
    SumFirst,
    SumGroups,
    Total,
    TransposedMatMul,
)
from .stored import Stored, StoredInGguf

__all__ = sorted(name for name, each in [*globals().items()] if isinstance(each, type))
