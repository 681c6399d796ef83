"""Array types in the signatures of compiled loops: element type and number of dimensions.

Public loops declare their arguments with these types, `A | B` if both are accepted. The final digit is the number of
dimensions: `Int64` has one, `Int64_2` two. The last dimension is contiguous.
"""

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt


class ArrayType(NamedTuple):
    """The element type, as NumPy writes it, and the number of dimensions."""

    kind: str
    dimensions: int


Bool = Annotated[npt.NDArray[np.bool_], ArrayType("b1", 1)]
Bool_2 = Annotated[npt.NDArray[np.bool_], ArrayType("b1", 2)]
UInt8 = Annotated[npt.NDArray[np.uint8], ArrayType("u1", 1)]
UInt8_2 = Annotated[npt.NDArray[np.uint8], ArrayType("u1", 2)]
Int8 = Annotated[npt.NDArray[np.int8], ArrayType("i1", 1)]
Int8_2 = Annotated[npt.NDArray[np.int8], ArrayType("i1", 2)]
Int16 = Annotated[npt.NDArray[np.int16], ArrayType("i2", 1)]
Int16_2 = Annotated[npt.NDArray[np.int16], ArrayType("i2", 2)]
Int32 = Annotated[npt.NDArray[np.int32], ArrayType("i4", 1)]
Int32_2 = Annotated[npt.NDArray[np.int32], ArrayType("i4", 2)]
Int32_3 = Annotated[npt.NDArray[np.int32], ArrayType("i4", 3)]
Int64 = Annotated[npt.NDArray[np.int64], ArrayType("i8", 1)]
Int64_2 = Annotated[npt.NDArray[np.int64], ArrayType("i8", 2)]
Int64_3 = Annotated[npt.NDArray[np.int64], ArrayType("i8", 3)]
UInt64 = Annotated[npt.NDArray[np.uint64], ArrayType("u8", 1)]
UInt64_2 = Annotated[npt.NDArray[np.uint64], ArrayType("u8", 2)]
UInt64_3 = Annotated[npt.NDArray[np.uint64], ArrayType("u8", 3)]
Float64 = Annotated[npt.NDArray[np.float64], ArrayType("f8", 1)]
Float64_2 = Annotated[npt.NDArray[np.float64], ArrayType("f8", 2)]
Float64_3 = Annotated[npt.NDArray[np.float64], ArrayType("f8", 3)]
