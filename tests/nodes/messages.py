"""Messages for tests, with everything not named at rest at the origin."""

from typing import Any

from blocks.math import Quat, Vec3
from msgs.fault import Fault, FaultKind
from msgs.state_estimate import StateEstimate
from msgs.thrust_rates import ThrustRates
from msgs.truth_state import TruthState

ZERO = Vec3(0.0, 0.0, 0.0)
LEVEL = Quat(1.0, 0.0, 0.0, 0.0)


def truth(stamp: int = 0, **fields: Any) -> TruthState:
    """A true state."""
    rest = TruthState(stamp, ZERO, ZERO, LEVEL, ZERO, (0.0, 0.0, 0.0, 0.0), 0.0, False)
    return rest._replace(**fields)


def estimate(stamp: int = 0, **fields: Any) -> StateEstimate:
    """A healthy estimate."""
    rest = StateEstimate(stamp, ZERO, ZERO, LEVEL, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, 0, True)
    return rest._replace(**fields)


def fault(kind: FaultKind, active: bool = True, stamp: int = 0, **fields: Any) -> Fault:
    """A fault that begins, or ends."""
    return Fault(stamp, ZERO, ZERO, 0.0, int(kind), 0, active)._replace(**fields)


def thrust_rates(stamp: int = 0, thrust: float = 0.0, body_rates: Vec3 = ZERO) -> ThrustRates:
    """A command."""
    return ThrustRates(stamp, thrust, body_rates)
