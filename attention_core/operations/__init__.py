"""The operations a trace is made of, one small class each."""

from .base import Operation
from .distances import DistanceBias, LengthMask, LogicalAnd, WindowMask
from .entrywise import (
    Add,
    Cast,
    Exp,
    Multiply,
    RunningSum,
    Scale,
    ScaleBy,
    ScaleRow,
    Shift,
    ShiftRow,
    SoftCap,
    Square,
    Subtract,
    SumFromHere,
    SumLast,
)
from .heads import (
    Columns,
    JoinColumns,
    JoinHeads,
    JoinRows,
    JoinRowsOfHeads,
    MeanHeads,
    Permute,
    RepeatHeads,
    Rows,
    RowsOfHeads,
    SplitHeads,
    SplitWithoutTranspose,
    SumHeads,
    SwitchOff,
    Transpose,
)
from .inputs import Draw, Edit, Encode, Given, Sinusoid
from .layer_norm import DivideByRoot, RowMean, RowMeanSquare, RowVariance, ScaleShift, Standardise
from .layers import (
    GELU,
    GELUSlope,
    LayerNorm,
    ReLU,
    ReLUSlope,
    RowLength,
    ShareOfLarger,
    ShareOfLargest,
    Sigmoid,
    SiLU,
    SiLUSlope,
    SoftCapSlope,
)
from .losses import CrossEntropy, Entry, Mean, PutEntry
from .masks import AttentionMask, Drop, MaskedFill, MaskGradient, Renormalise, TopK
from .normalise import L2Normalize, MaskedSoftmax, Softmax, SumNormalise
from .pairs import JoinPair, PairCounts
from .product import Affine, BatchedMatMul, Linear, MatMul, MatMulByLoop, MatMulUpright
from .rotary import RotaryAngles, Rotate
from .rowwise import (
    Divide,
    ExpDifference,
    MaskedDivide,
    Rescale,
    RescaleAndAdd,
    RowLargest,
    RowSum,
    RunningMaximum,
    SoftmaxJacobian,
)
from .select import Lookup, OneHot, Row
from .spread import AddAtIds, Copied, PutBack, Repeat, SumFirst, SumGroups, Total, TransposedMatMul
from .stored import Stored, StoredInGguf

__all__ = sorted(name for name, each in [*globals().items()] if isinstance(each, type))
