"""What was spent, and when is it too much?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.domain.budget import Budget, Spend, Usage

COUNTS = st.integers(0, 10**9)
USAGES = st.builds(Usage, prompt=COUNTS, cached=COUNTS, completion=COUNTS, reasoning=COUNTS)
SPENDS = st.builds(
    Spend,
    usage=USAGES,
    micros=COUNTS,
    live=COUNTS,
    recorded=COUNTS,
    scripted=COUNTS,
    unpriced=COUNTS,
    possibly_billed=COUNTS,
    seconds=st.integers(0, 10**6).map(float),
)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(SPENDS, SPENDS, SPENDS)
def test_adding_up_loses_nothing_in_any_order(one: Spend, two: Spend, three: Spend) -> None:
    total = one + two + three
    assert total == three + (two + one)
    for field in set(Spend.model_fields) - {"usage"}:
        assert getattr(total, field) == sum(getattr(spend, field) for spend in (one, two, three))
    for field in Usage.model_fields:
        assert getattr(total.usage, field) == sum(getattr(spend.usage, field) for spend in (one, two, three))


def test_cached_and_reasoning_tokens_are_counted_once() -> None:
    assert Usage(prompt=100, cached=90, completion=10, reasoning=8).total == 110


@pytest.mark.parametrize(
    ("spend", "usd"),
    [
        (Spend(), 0.0),
        (Spend(scripted=3, recorded=2), 0.0),
        (Spend(live=1, micros=0), 0.0),
        (Spend(live=1, unpriced=1), None),
        (Spend(live=2, unpriced=1, micros=1_500_000), 1.5),
    ],
)
def test_an_unpriced_call_is_never_zero_dollars(spend: Spend, usd: float | None) -> None:
    assert spend.usd == usd


@pytest.mark.parametrize(
    ("budget", "spend", "told"),
    [
        (Budget(usd=2), Spend(micros=1_999_999), None),
        (Budget(usd=2), Spend(micros=2_000_000), "money: $2.000000 of $2.00 spent"),
        (Budget(usd=0.1), Spend(micros=100_000), "money: $0.100000 of $0.10 spent"),
        (Budget(tokens=10), Spend(usage=Usage(prompt=6, completion=3)), None),
        (Budget(tokens=10), Spend(usage=Usage(prompt=6, completion=4)), "tokens: 10 of 10 used"),
        (Budget(hours=2), Spend(seconds=7199.9), None),
        (Budget(hours=2), Spend(seconds=7200), "time: 2.00 of 2.00 hours worked"),
        (Budget(), Spend(micros=10**15, seconds=1e15, usage=Usage(prompt=10**15)), None),
    ],
)
def test_a_limit_is_reached_exactly_there(budget: Budget, spend: Spend, told: str | None) -> None:
    assert budget.exhausted_by(spend) == told


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.builds(Budget, usd=st.floats(0, 1e3), tokens=COUNTS, hours=st.floats(0, 300)), SPENDS, SPENDS)
def test_spending_more_never_frees_a_budget(budget: Budget, spend: Spend, more: Spend) -> None:
    assert budget.exhausted_by(spend) is None or budget.exhausted_by(spend + more) is not None


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("field", ["usd", "hours"])
def test_a_limit_is_a_number_that_can_be_reached(field: str, odd: float) -> None:
    with pytest.raises(ValueError, match="finite number"):
        Budget.model_validate({field: odd})
