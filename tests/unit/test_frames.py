"""The frames between the steps: each is declared, has the declared columns, and is refused otherwise."""

from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from pipelines.normalize.faces.facts import with_filed
from pipelines.normalize.facts.raw import RAW_SCHEMA
from pipelines.normalize.frames import DECISIONS, FRAMES, FrameError, counted, with_ten_digits
from pipelines.normalize.items.flags import FLAGS
from pipelines.normalize.pipeline import GATHERED, STEPS, Step, run, standardize
from pipelines.normalize.rule import Rule
from tests.factories import ASSETS, CASH, EPS, NET_INCOME, REVENUE, SHARES, Filer, fact, month_ends, raw

GIVEN = {"raw", "faces", "shown", "accepted", "registrants"}
ONE, OTHER = (Rule(f"test.{name}", "A rule.", "A source.", "select") for name in ("one", "other"))


def test_every_frame_that_a_step_takes_was_returned_by_an_earlier_step():
    made = set(GIVEN)
    for step in STEPS:
        assert set(step.takes) <= made, step.name
        made |= set(step.makes)


def test_every_frame_is_declared_documented_and_returned_by_one_step():
    """Except the frames that are gathered from several steps."""
    made = [name for step in STEPS for name in step.makes if name not in GATHERED]
    assert sorted([*made, *GATHERED]) == sorted(FRAMES)
    assert all(declared.row for declared in FRAMES.values())
    assert len({step.name for step in STEPS}) == len(STEPS)


def test_flags_after_each_filing_are_columns():
    """The declared columns equal the columns that another module lists."""
    assert FRAMES["values"].types.names()[-len(FLAGS) :] == list(FLAGS)


def test_keys_and_missing_values_hold_for_a_filer():
    """All frames of all steps, for three fiscal years of one company."""
    quarters = {REVENUE: [100e6] * 12, NET_INCOME: [10e6] * 12}
    filer = Filer(month_ends(2021, 12), quarters, {SHARES: [50e6] * 12}, {CASH: [30e6] * 12})

    assert standardize(filer.facts(), validate=True).versions.height > 0


@pytest.mark.parametrize("rows", [[], [fact(EPS, 1.5, "2023-01-01", "2023-12-31")]], ids=["nothing", "one fact"])
def test_a_filer_with_few_facts_has_the_same_columns(rows):
    """A batch without rows passes all steps, and its tables have the declared types."""
    facts = raw(rows) if rows else pl.DataFrame(schema=RAW_SCHEMA)

    assert standardize(facts, validate=True).versions.is_empty()


@pytest.mark.parametrize("year", ["0021", "0201", "0900", "1923"])
def test_a_year_that_is_mistyped_by_centuries_changes_nothing(year):
    """A fact for it is left out, so that fiscal quarters are not counted from it."""
    filer = Filer(month_ends(2021, 12), {REVENUE: [100e6] * 12}, {})
    mistyped = fact(REVENUE, 4e8, f"{year}-01-01", f"{year}-12-31")

    found = standardize(raw([*filer.rows(), mistyped]), validate=True).versions

    assert_frame_equal(found, standardize(raw(filer.rows())).versions)


ENDS = month_ends(2021, 12)
FEW = {
    "nothing": [],
    "one fact": [fact(EPS, 1.5, "2023-01-01", "2023-12-31")],
    "balances only": Filer(ENDS, {}, {}, {CASH: [30e6] * 12, ASSETS: [90e6] * 12}).rows(),
    "flows only": Filer(ENDS, {REVENUE: [100e6] * 12}, {}, {}).rows(),
    "shares only": Filer(ENDS, {}, {SHARES: [50e6] * 12}, {}).rows(),
}


def given_to_steps(rows):
    facts, faces, shown, _ = with_filed(raw(rows) if rows else pl.DataFrame(schema=RAW_SCHEMA), None)
    return {"raw": facts, "faces": faces, "shown": shown}


@pytest.mark.parametrize("name", FEW)
def test_a_step_without_rows_to_process_would_return_none(name):
    """Leaving out the steps with empty frames changes no frame."""
    given = given_to_steps(FEW[name])

    frames, of_all_steps = run(STEPS, given), run([replace(step, of=()) for step in STEPS], given)

    for frame in FRAMES:
        assert_frame_equal(frames[frame], of_all_steps[frame])


def test_only_the_wanted_frames_are_kept():
    given = given_to_steps(FEW["flows only"])

    kept, frames = run(STEPS, given, keep=["versions"]), run(STEPS, given)

    assert set(kept) == {"versions", *GATHERED}
    assert all(frame.equals(frames[name]) for name, frame in kept.items())


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        (pl.DataFrame({"cik": [1]}, schema={"cik": pl.Int64}), "currency is missing, expected String"),
        (
            pl.DataFrame({"cik": ["1"], "currency": ["USD"]}),
            "cik is String, expected Int64",
        ),
        (
            pl.DataFrame({"cik": [1], "currency": ["USD"], "country": ["US"]}),
            "country is not declared",
        ),
    ],
)
def test_a_frame_that_differs_from_its_declaration_is_refused(frame, complaint):
    """The message names the step, the frame and the column."""
    with pytest.raises(FrameError, match=rf"step 'currency' made 'currencies': .*{complaint}"):
        FRAMES["currencies"].checked(frame, "currency")


def test_columns_come_in_their_declared_order():
    mixed = pl.DataFrame({"currency": ["USD"], "cik": [1]})

    assert FRAMES["currencies"].checked(mixed, "currency").columns == ["cik", "currency"]


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("currencies", {"cik": [1, 1]}, r"the key \(cik\) is repeated in 2 rows"),
        ("currencies", {"currency": ["USD", None]}, "currency is missing in 1 rows"),
        ("decisions", {"figures": [1, 0]}, "figures is beyond its limits in 1 rows"),
    ],
)
def test_keys_missing_values_and_limits_are_checked_on_demand(name, change, complaint):
    """Only tests request these checks: they take longer than some steps."""
    declared = FRAMES[name]
    right = {"cik": [1, 2], "currency": ["USD", "EUR"], "rule": ["a", "b"], "figures": [1, 1]}
    wrong = pl.DataFrame({column: {**right, **change}[column] for column in declared.types}, schema=declared.types)

    assert declared.checked(wrong, "a step") is wrong
    with pytest.raises(FrameError, match=rf"step 'a step' made '{name}': {complaint}"):
        declared.checked(wrong, "a step", validate=True)


def test_steps_run_in_order_and_are_observed():
    """Each step reports the rows that it returned; the decisions of all steps are added up."""

    def decide(_: pl.DataFrame | None) -> tuple[pl.DataFrame, pl.DataFrame]:
        found = pl.DataFrame({"cik": [7], "currency": ["USD"]})
        return found, pl.DataFrame({"cik": [7], "rule": [ONE.id], "figures": [2]}, schema=DECISIONS)

    seen: list[tuple[str, int]] = []
    step = Step("a step", decide, ("raw",), ("currencies", "decisions"))
    made = run([step, step], {"raw": None}, lambda name, rows, seconds: seen.append((name, rows)))

    assert seen == [("a step", 1)] * 2
    assert made["decisions"].rows() == [(7, ONE.id, 4)]


def test_decisions_are_counted_by_company_and_rule():
    """A rule may occur in several steps; a rule that decided nothing has no row."""
    found = counted([(ONE, pl.Series([3, 3, 5]).to_numpy()), (OTHER, pl.Series([], dtype=pl.Int64).to_numpy())])
    again = counted([(ONE, pl.Series([3]).to_numpy()), (ONE, pl.Series([3]).to_numpy())])

    assert sorted(found.rows()) == [(3, ONE.id, 2), (5, ONE.id, 1)]
    assert again.rows() == [(3, ONE.id, 2)]


def test_company_numbers_are_published_as_ten_digits():
    assert with_ten_digits(pl.DataFrame({"cik": [320193]}))["cik"].to_list() == ["0000320193"]


def test_one_meaning_has_one_type():
    """A column has one type in all frames, except at the border between a step and the log."""
    published = ("lineage", "quarter_lineage", "repairs")  # names as text
    columns = {
        (column, str(kind))
        for name, declared in FRAMES.items()
        if name not in published
        for column, kind in declared.types.items()
    }
    assert sorted(column for column, _ in columns) == sorted({column for column, _ in columns})
