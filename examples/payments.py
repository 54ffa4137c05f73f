"""A payment that is sent again when no answer comes: the model of docs/guide/first-model.md.

Payments charges once for every request that arrives; RememberedPayments notices a request that it has seen.
"""

from __future__ import annotations

from insync.model import Bool, Bound, Bounds, BoundValues, Condition, Implies, Int, Model, Not, State, StateView
from insync.model import action, invariant, require, when


class Payments(Model):
    """A client asks for one payment, over a network that may lose what is sent."""

    bounds = Bounds(tries=Bound(2, 1, 5, "how often the client sends its request"))

    def declare(self, b: BoundValues) -> State:
        return State(
            tries=Int(0, b.tries),  # how often the client has sent it
            request=Bool,  # a request is on its way
            answer=Bool,  # an answer is on its way
            paid=Bool,  # the client knows that it has paid
            charged=Int(0, b.tries),  # how often the server has charged
        )

    @action(label="the client sends its request")
    def send(self, s: StateView) -> None:
        """For the first time, or again: the client cannot know whether it is slow or lost."""
        require(Not(s.paid), Not(s.request), s.tries < self.b.tries)
        s.request = True
        s.tries += 1

    @action(label="the server charges, and answers")
    def charge(self, s: StateView) -> None:
        """The server takes the request and does what it says."""
        require(s.request)
        s.request, s.answer = False, True
        s.charged += 1

    @action(label="the client hears that it has paid")
    def hear(self, s: StateView) -> None:
        """The answer arrives."""
        require(s.answer)
        s.answer, s.paid = False, True

    @action(label="the network loses the request")
    def lose_request(self, s: StateView) -> None:
        """The request never arrives."""
        require(s.request)
        s.request = False

    @action(label="the network loses the answer")
    def lose_answer(self, s: StateView) -> None:
        """The answer never arrives."""
        require(s.answer)
        s.answer = False

    @invariant
    def charged_at_most_once(self, s: StateView) -> Condition:
        """Nobody pays twice."""
        return s.charged <= 1

    @invariant
    def paid_means_charged(self, s: StateView) -> Condition:
        """Who has heard that it has paid, has."""
        return Implies(s.paid, s.charged >= 1)


class RememberedPayments(Payments):
    """The server knows a request that it has seen, and only answers it again."""

    @action(label="the server answers, and charges if it has not")
    def charge(self, s: StateView) -> None:
        """The server takes the request, and does what it says the first time."""
        require(s.request)
        s.request, s.answer = False, True
        with when(s.charged == 0):
            s.charged += 1
