"""Array types in the signatures of compiled loops: element type and number of dimensions.

Public loops declare their arguments with these types, `A | B` if both are accepted. The final digit is the number of
dimensions: `Ints` has one, `Ints2` two. The last dimension is contiguous.
"""

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt


class Layout(NamedTuple):
    """The element type, as NumPy writes it, and the number of dimensions."""

    kind: str
    dimensions: int


Flags = Annotated[npt.NDArray[np.bool_], Layout("b1", 1)]
Flags2 = Annotated[npt.NDArray[np.bool_], Layout("b1", 2)]
Bytes = Annotated[npt.NDArray[np.uint8], Layout("u1", 1)]
Bytes2 = Annotated[npt.NDArray[np.uint8], Layout("u1", 2)]
Tinies = Annotated[npt.NDArray[np.int8], Layout("i1", 1)]
Tinies2 = Annotated[npt.NDArray[np.int8], Layout("i1", 2)]
Shorts = Annotated[npt.NDArray[np.int16], Layout("i2", 1)]
Shorts2 = Annotated[npt.NDArray[np.int16], Layout("i2", 2)]
Halves = Annotated[npt.NDArray[np.int32], Layout("i4", 1)]
Halves2 = Annotated[npt.NDArray[np.int32], Layout("i4", 2)]
Halves3 = Annotated[npt.NDArray[np.int32], Layout("i4", 3)]
Ints = Annotated[npt.NDArray[np.int64], Layout("i8", 1)]
Ints2 = Annotated[npt.NDArray[np.int64], Layout("i8", 2)]
Ints3 = Annotated[npt.NDArray[np.int64], Layout("i8", 3)]
Words = Annotated[npt.NDArray[np.uint64], Layout("u8", 1)]
Words2 = Annotated[npt.NDArray[np.uint64], Layout("u8", 2)]
Words3 = Annotated[npt.NDArray[np.uint64], Layout("u8", 3)]
Reals = Annotated[npt.NDArray[np.float64], Layout("f8", 1)]
Reals2 = Annotated[npt.NDArray[np.float64], Layout("f8", 2)]
Reals3 = Annotated[npt.NDArray[np.float64], Layout("f8", 3)]
