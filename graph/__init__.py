"""The middleware: ports, wiring and its checks, tick schedule, launch files, the runners, Zenoh transport, bags."""
