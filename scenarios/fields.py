"""Field types shared by the schemas: numbers with their bounds.

The outer bounds are far beyond anything that flies; they keep what is computed from the numbers finite.
"""

from typing import Annotated

from pydantic import Field

Number = Annotated[float, Field(ge=-1e9, le=1e9)]
Positive = Annotated[float, Field(gt=0, le=1e9)]
NonNegative = Annotated[float, Field(ge=0, le=1e9)]
Fraction = Annotated[float, Field(ge=0, le=1)]
BelowOne = Annotated[float, Field(ge=0, lt=1)]
RateHz = Annotated[int, Field(gt=0, le=10_000)]
Name = Annotated[str, Field(min_length=1)]
Vector = tuple[Number, Number, Number]
PositiveVector = tuple[Positive, Positive, Positive]
NonNegativeVector = tuple[NonNegative, NonNegative, NonNegative]
Size = tuple[Positive, Positive]
