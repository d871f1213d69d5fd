"""Faults as events: a row of numbers for the beginning of each, one for its end."""

from collections.abc import Sequence

from msgs.fault import FaultKind
from scenarios.scenario import Fault

Row = list[float]
"""An event: ns, kind, rotor, active, value, gyro bias x y z, accelerometer bias x y z."""


def rows_of(fault: Fault) -> list[Row]:
    """The event that begins a fault, and the one that ends it if it ends. Times are exact in a float64."""
    kind = float(FaultKind[fault.kind.upper()])
    value: float = getattr(fault, "probability", getattr(fault, "delay_s", getattr(fault, "thrust_fraction", 0.0)))
    what = [
        float(value),
        *getattr(fault, "gyro_bias_rad_s", (0.0, 0.0, 0.0)),
        *getattr(fault, "accel_bias_m_s2", (0.0, 0.0, 0.0)),
    ]
    rotor = float(getattr(fault, "rotor", 0))
    begin = round(fault.start_s * 1e9)
    rows = [[float(begin), kind, rotor, 1.0, *what]]
    if fault.end_s is not None:
        rows.append([float(max(begin + 1, round(fault.end_s * 1e9))), kind, rotor, 0.0, *what])
    return rows


def by_time(rows: Sequence[Row]) -> list[Row]:
    """Events by time; of those at one time ends come first, so that one fault may begin where another ends."""
    return sorted(rows, key=lambda row: (row[0], row[3]))
