"""Free cells: the codes of a field to which an initial method assigns `ANY`.

Each is a variable of its own, which a CELL node stands for: assigning `ANY` twice gives two of them. Only canonical
codes are meant, so that equal values have equal codes.
"""

from __future__ import annotations

from insync.model.domains.composite import Domain
from insync.model.domains.layout import well_formed
from insync.model.errors import ModelError, user_frame
from insync.model.expressions.graph import Graph, Node
from insync.model.expressions.store import Environment, Nowhere, current

__all__ = ["InitialEnvironment", "free_codes"]


class InitialEnvironment(Environment):
    """The state while an initial method is traced, with a graph of its own: a CELL of it is a variable, not a cell.

    Args:
        codes: of the state that the method begins from.

    Attributes:
        well_formed: the conditions that codes of variables are those of values.
    """

    def __init__(self, codes: tuple[int, ...]) -> None:
        graph = Graph(())
        super().__init__(graph, [graph.const(code) for code in codes], writable=True, guarded=True)
        self.well_formed: list[Node] = []

    def variable(self, size: int) -> Node:
        """Return a new variable with the values 0 .. size-1."""
        self.graph.cell_sizes = (*self.graph.cell_sizes, size)
        return self.graph.cell(len(self.graph.cell_sizes) - 1)


def free_codes(domain: Domain, target: Environment, path: str) -> list[Node]:
    """Return the codes of any value of a domain.

    Args:
        domain: of the field.
        target: where the field stands.
        path: what is assigned, for messages.

    Raises:
        ModelError: no initial method is being traced.
    """
    if isinstance(target, Nowhere):
        return [target.graph.const(0)] * domain.width
    environment = current.get()
    if not isinstance(environment, InitialEnvironment):
        message = (
            f"{user_frame()}: ANY cannot be assigned to {path} here: it is for methods marked with @initial. What may "
            f"differ in an action is a parameter of it."
        )
        raise ModelError(message)
    codes = [environment.variable(size) for _, size in domain.cells(path)]
    environment.well_formed += [
        condition for condition in well_formed(domain, codes) if condition is not environment.graph.true
    ]
    return codes
