"""The lemmas are true where they are used, wrong candidates are dropped, and proofs are files that are not believed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from insync.explorer import check
from insync.model import Bool, Condition, Model, Not, State, StateView, action, invariant, require
from insync.model.catalogue import find_model
from insync.model.evaluator import evaluate
from insync.proofs.proof_file import FORMAT, Proof, proof_text, read_proof
from insync.properties.registry import judge, lemmas_of, select_lemmas, sentences_of
from insync.runtime.errors import UserError
from insync_proofs import Corridor
from insync_rewritten import proof_with
from insync_toys import Overflow

WRONG = "followers_trail_the_high_watermark"
KIP320 = find_model("kip320")


@pytest.mark.slow_for("bounds1", "bounds2")
@pytest.mark.parametrize("bounds", [(2, 2, 2, 2), (3, 2, 1, 2), (3, 1, 2, 3)])
def test_every_lemma_but_the_wrong_one_is_true_of_kip320(bounds: tuple[int, ...]) -> None:
    model = KIP320(**dict(zip(("replicas", "log_size", "max_records", "max_leader_epoch"), bounds, strict=True)))
    result = check(model, properties=list(lemmas_of(model)), keep_going=True)
    assert {violation.property for violation in result.violations} <= {WRONG}


def test_lemmas_say_what_they_mean_and_are_no_properties() -> None:
    model = KIP320()
    assert all(lemma.sentence.endswith(".") for lemma in lemmas_of(model).values())
    assert not set(lemmas_of(model)) & set(sentences_of(model))
    assert not lemmas_of(Corridor())


def test_a_property_may_serve_as_a_lemma_and_an_unknown_name_may_not() -> None:
    model = KIP320()
    assert [p.name for p in select_lemmas(model, ["weak_isr", "record_ids_are_old", "weak_isr"])] == [
        "weak_isr",
        "record_ids_are_old",
    ]
    with pytest.raises(UserError, match=r"no lemma 'record_ids_are_odd'. Did you mean 'record_ids_are_old'\?"):
        select_lemmas(model, ["record_ids_are_odd"])
    with pytest.raises(UserError, match="no lemma 'type_ok'"):
        select_lemmas(model, ["type_ok"])


def test_a_lemma_can_be_searched_for_a_violation() -> None:
    (violation,) = check(KIP320(), properties=[WRONG]).violations
    assert WRONG in violation.trace.reason


def test_a_committed_record_is_kept_by_the_isr_of_the_leader_that_committed_it() -> None:
    model = KIP320(replicas=2, log_size=1, max_records=1, max_leader_epoch=1)
    state = model.decode(model.program.initials[0])
    state["replica"]["b1"] |= {"leader": "b1", "epoch": "0", "isr": ["b1"], "leo": 1, "hw": 1}
    state["replica"]["b1"]["log"] = [{"id": "r0", "epoch": "0"}]
    state["quorum"] |= {"leader": "b1", "isr": ["b1"]}
    state["requests"]["0"] |= {"leader": "b1", "isr": ["b1", "b2"]}
    state["next_epoch"] = 1
    (kept,) = select_lemmas(model, ["committed_records_are_kept"])
    assert evaluate(kept.node(model), model.encode(state)), "the record was committed by b1 alone"
    state["replica"]["b1"]["isr"] = ["b1", "b2"]
    assert not evaluate(kept.node(model), model.encode(state)), "b2 lacks it, and is still in the leader's ISR"


class Spreading(Model):
    """What is spread was begun before; the action that spreads stands first."""

    def declare(self, b: object) -> State:
        return State(begun=Bool, spread=Bool)

    @action
    def spread(self, s: StateView) -> None:
        require(s.begun)
        s.spread = True

    @action
    def begin(self, s: StateView) -> None:
        s.begun = True

    @invariant
    def never_spread(self, s: StateView) -> Condition:
        """Needs the help of the other, which is false."""
        return Not(s.spread)

    @invariant
    def never_begun(self, s: StateView) -> Condition:
        return Not(s.begun)


class TestInference:
    @pytest.fixture(autouse=True)
    def z3(self) -> None:
        pytest.importorskip("z3")

    def test_wrong_candidates_are_dropped_and_the_rest_is_proved(self) -> None:
        from insync.proofs.houdini import infer
        from insync.proofs.results import ProofVerdict

        model = KIP320(replicas=2)
        found = infer(model, [*judge(model).invariants, *lemmas_of(model).values()])
        assert [dropped.name for dropped in found.dropped] == [WRONG]
        assert found.induction.verdict is ProofVerdict.PROVED
        assert "strong_isr" in found.kept

    def test_what_was_proved_with_the_help_of_a_fallen_candidate_is_asked_again(self) -> None:
        from insync.proofs.houdini import infer

        model = Spreading()
        found = infer(model, judge(model, ["never_spread", "never_begun"]).invariants)
        assert [(dropped.name, dropped.by) for dropped in found.dropped] == [
            ("never_begun", "begin"),
            ("never_spread", "spread"),
        ]
        assert found.proved == ()

    @pytest.mark.slow
    def test_what_is_kept_of_kip279_is_inductive_and_strong_isr_is_not_kept(self) -> None:
        from insync.proofs.houdini import infer
        from insync.proofs.k_induction import check_induction
        from insync.proofs.results import ProofVerdict

        model = find_model("kip279")(replicas=2)
        found = infer(model, [*judge(model).invariants, *lemmas_of(model).values()])
        assert "strong_isr" not in found.kept
        assert "record_ids_are_unique" in found.kept
        kept = [p for p in (*judge(model).invariants, *lemmas_of(model).values()) if p.name in found.kept]
        assert check_induction(model, kept).verdict is ProofVerdict.PROVED

    def test_the_initial_state_drops_candidates_too(self) -> None:
        from insync.proofs.houdini import infer

        model = KIP320(replicas=2)
        found = infer(model, judge(model, ["leader_in_isr"]).invariants)
        assert [(d.name, d.by) for d in found.dropped] == [("leader_in_isr", "the initial state")]
        assert found.kept == ()

    def test_nothing_is_proved_of_a_model_with_a_step_that_leaves_a_domain(self) -> None:
        from insync.proofs.houdini import infer

        model = Overflow()
        found = infer(model, judge(model, ["deadlock_free"]).invariants)
        assert found.proved == ()

    def test_small_instances_drop_what_is_false_there(self) -> None:
        from insync.explorer.mining.clauses import refuted_candidates, small_bounds

        model = KIP320(replicas=2, log_size=6, max_records=6, max_leader_epoch=6)
        assert small_bounds(model) == {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}
        (dropped,) = refuted_candidates(model, list(lemmas_of(model).values()))
        assert dropped.name == WRONG
        assert "log_size 2" in dropped.by
        assert refuted_candidates(model, list(lemmas_of(model).values()), seconds=0) == []


PROOF = Proof(
    "kip320", {"replicas": 3}, ("strong_isr",), ("record_ids_are_old",), 1, "z3", {"initiation": ("proved", 0.1)}
)


def test_a_byte_order_mark_before_a_proof_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    path.write_text(proof_text(PROOF), encoding="utf-8-sig")
    assert read_proof(path).lemmas == PROOF.lemmas


def test_a_proof_file_is_read_as_it_was_written_but_for_its_results(tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    path.write_text(proof_text(PROOF))
    found = read_proof(path)
    assert (found.model, found.bounds, found.properties, found.lemmas, found.k) == (
        PROOF.model,
        PROOF.bounds,
        PROOF.properties,
        PROOF.lemmas,
        PROOF.k,
    )
    assert found.results == {}
    assert json.loads(path.read_text())["format"] == FORMAT


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "insync-trace/1"}, "this is not a proof file"),
        ({"bounds": {"replicas": [3]}}, "bounds.replicas is [3]; expected a whole number or a name"),
        ({"k": 0}, "k is 0; expected a whole number from 1"),
        ({"k": True}, "k is true; expected a whole number from 1"),
        ({"model": None}, "model is null; expected the name of a model"),
        ({"lemmas": "all"}, 'lemmas is "all"; expected a list of names'),
        ({"lemmas": [1]}, "lemmas is 1; expected the name of a property or lemma"),
        ({"conditions": {}}, "conditions is {}; expected a list of conditions"),
        ({"conditions": [None]}, "conditions is null; expected a condition, as a text"),
    ],
)
def test_a_proof_file_of_something_else_is_refused_with_the_place(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    path = tmp_path / "proof.json"
    path.write_text(proof_with(proof_text(PROOF), changes))
    with pytest.raises(UserError) as raised:
        read_proof(path)
    assert message in raised.value.args[0]
    assert str(path) in raised.value.args[0]


def test_a_proof_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    text = proof_text(PROOF)
    for place in range(len(text)):
        path.write_text(text[:place] + ("~" if text[place] != "~" else "!") + text[place + 1 :])
        with pytest.raises(UserError, match=r"^.*proof\.json"):
            read_proof(path)
    path.write_text(text.replace("strong_isr", "weak_isr"))
    with pytest.raises(UserError, match=r"proof\.json: this proof was changed after it was written"):
        read_proof(path)
    path.write_text(text.replace("\n", "\r\n"))
    assert read_proof(path).lemmas == PROOF.lemmas, "as a mail program may leave it"


def test_a_proof_file_that_is_no_file_or_no_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_proof(tmp_path / "none.json")
    (tmp_path / "text").write_text("proof")
    with pytest.raises(UserError, match="this is not JSON"):
        read_proof(tmp_path / "text")
