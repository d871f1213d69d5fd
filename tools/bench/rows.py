"""Every row of the bench, in the order it is measured."""

from tools.bench import loop, native, running, watching
from tools.bench.measure import Row

ROWS = (
    Row("rk4", "RK4 step over C++", native.rk4, reach=1.0),
    Row("flight", "one b0-nominal seed, fused, one core, no log", loop.one_flight, reach=35.0),
    Row("closed-loop", "the same flight over C++", native.closed_loop, reach=1.2),
    Row("nodes", "each node alone in the loop", loop.nodes),
    Row("seeds", "500 seeds on every core", loop.five_hundred_seeds, reach=12.0),
    Row("growth", "CPU per simulated second, 32 seeds over 2", loop.growth, reach=1.2),
    Row("memory", "memory that one more seed takes", loop.memory, reach=16.0),
    Row("minute", "60 s of B0 with its bag, fused", running.fused_minute, reach=1.5),
    Row("inline", "inline with recording, over real time", running.inline, reach=50.0, at_least=True),
    Row("process", "process with recording, over real time", running.process, reach=2.0, at_least=True),
    Row("viewers", "process with 20 viewers over none", watching.sdk, reach=0.9, at_least=True),
    Row("viewers-v1", "the same with websocket.v1", watching.v1, reach=0.9, at_least=True),
    Row("recording", "CPU per recorded message", running.recording, reach=2.5),
    Row("help", "holeshot --help", running.help_time, reach=0.3),
    Row("start", "a launch with a warm cache", running.warm_start, reach=3.0),
    Row("cold", "cold compile of everything", running.cold_start, reach=40.0),
)
