"""A kernel's module reaches what it imports when it is imported itself, wherever in it that stands."""

import ast

from graph.cache import _imports

MODULE = """
import first
from pack.sub import second
try:
    import third
except ImportError:
    from slow import fourth
else:
    import fifth
finally:
    import sixth
with something():
    import seventh
for _ in range(2):
    import eighth
if TYPE_CHECKING:
    import never
else:
    import ninth
class Holder:
    import tenth
def function():
    import lazily
match 1:
    case 1:
        import eleventh
from . import beside
"""


def test_every_import_that_runs_with_the_module_counts() -> None:
    found = set(_imports(ast.parse(MODULE).body, "pack"))
    expected = {"first", "pack.sub", "pack.sub.second", "third", "slow", "slow.fourth", "fifth", "sixth", "seventh"}
    assert found == expected | {"eighth", "ninth", "tenth", "eleventh", "pack", "pack.beside"}
