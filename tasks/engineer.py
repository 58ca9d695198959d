"""Do it, durably: the sole writer's attempt: think, act, until submitted, given up or out of calls."""

from typing import Literal, NamedTuple

from prefect import task

from agents.briefing import Material, brief
from agents.domain.cycle import Proposal
from agents.domain.errors import AskAgain, OutOfBudget
from agents.domain.events import Reply
from agents.domain.moves import Change, Check, GiveUp, Move, Submit
from agents.lead_engineer import ROLE, Talk, moves_of, opening
from agents.models.model import Call
from tasks.act import act
from tasks.cycle import Cycle, ordinal
from tasks.journal import Data
from tasks.policies import WALKED
from tasks.think import think

UNREADABLE_IN_A_ROW = 3


class Turn(NamedTuple):
    """What one reply led to: the tree, what the model is told, how the checks stand, and the claim, if any."""

    tree: str
    told: str
    checks: str = ""
    claim: Literal["", "submitted", "gave_up"] = ""
    summary: str = ""


@task(name="engineer", **WALKED)
def engineer(cycle: Cycle, material: Data) -> Data:
    """Return the Lead Engineer's proposal; asked again it comes from the journal, call by call."""
    return attempt(cycle, Material.model_validate(material)).model_dump(mode="json")


def attempt(cycle: Cycle, material: Material) -> Proposal:
    """Let the Lead Engineer work on the item from the base tree, within the calls and the budget it has."""
    previous = cycle.held.record.cycle(cycle.pin.previous) if cycle.pin.previous else None
    knobs = cycle.pin.knobs
    briefing = brief(cycle.mission, cycle.item, material, previous, knobs)
    talk = opening(briefing, cycle.pin.wire, knobs, cycle.pin.attempt)
    turn = Turn(tree=cycle.pin.base_tree, told="")
    unreadable = 0
    for position in range(knobs.max_calls):
        reply = _ask(cycle, talk, position)
        try:
            turn = _carry_out(cycle, turn.tree, moves_of(reply), position)
            unreadable = 0
        except AskAgain as error:
            turn, unreadable = Turn(turn.tree, str(error)), unreadable + 1
        if turn.claim:
            return Proposal(tree=turn.tree, ending=turn.claim, summary=turn.summary, calls=position + 1)
        if unreadable == UNREADABLE_IN_A_ROW:
            return Proposal(tree=turn.tree, ending="unparseable", summary=turn.told, calls=position + 1)
        talk = talk.heard(reply).told(turn.told)
    return Proposal(tree=turn.tree, ending="out_of_calls", summary=turn.checks or turn.told, calls=knobs.max_calls)


def _ask(cycle: Cycle, talk: Talk, position: int) -> Reply:
    spent = cycle.held.state.standing.spend + cycle.journal.tally.spend
    place = f"engineer/{ROLE}/{position}"
    if not cycle.journal.has(place) and (limit := cycle.mission.budget.exhausted_by(spent)) is not None:
        raise OutOfBudget(f"{limit}; cycle {cycle.pin.cycle} is kept open")
    call = Call(ROLE, cycle.item.id, ordinal(cycle, position))
    return think(cycle.journal, cycle.model, talk.request(), call, place)


def _carry_out(cycle: Cycle, tree: str, moves: tuple[Move, ...], position: int) -> Turn:
    """Do the moves of one reply in order, up to a change that fails; changes are checked, and green submits itself."""
    told: list[str] = []
    changed = False
    for number, move in enumerate(moves):
        if isinstance(move, GiveUp):
            return Turn(tree, "", claim="gave_up", summary=move.reason)
        if isinstance(move, Submit | Check):
            break
        tree, observation = act(cycle, tree, move, f"engineer/act/{position}.{number}")
        told.append(f"{_title(move)}\n{observation.text}")
        changed = changed or isinstance(move, Change)
        if not observation.ok and isinstance(move, Change):
            return Turn(tree, "\n\n".join([*told, "The moves after it were not carried out."]))
    last = next((move for move in moves if isinstance(move, Submit | Check)), None)
    if not changed and last is None:
        return Turn(tree, "\n\n".join(told))
    _, checked = act(cycle, tree, Check(), f"engineer/act/{position}.check")
    if checked.ok and (changed or isinstance(last, Submit)):
        summary = last.summary if isinstance(last, Submit) else "the checks are green"
        return Turn(tree, "", claim="submitted", summary=summary)
    return Turn(tree, "\n\n".join([*told, f"CHECK\n{checked.text}"]), checked.text)


def _title(move: Move) -> str:
    return " ".join(
        (move.kind.upper(), *(str(v) for k, v in move.model_dump(include={"path", "pattern", "command"}).items()))
    )
