"""What the command's exit codes mean; scripts rely on them."""

GOOD = 0
FAILED = 1  # the run or check ended, and failed
BAD_INPUT = 2
NODE_FAILED = 3  # a node failed or stalled
INTERRUPTED = 130  # Ctrl-C, as shells have it, or a viewer's /clock/stop
