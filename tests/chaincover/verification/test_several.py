"""``chaincover verify``: files that cannot be read, and summaries of several chains."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from itertools import combinations
from math import inf
from pathlib import Path

import pytest
from command_line import Outcome, chaincover, write_files
from drawn_seeds import seeds
from small_programs import HEAD, program, project
from verify_documents import CRUISE, Document, cruise_document, direct_proof, texts, verdicts, verify, wrong

from chaincover.verification.limits import Clock, Limits
from chaincover.verification.several import least_total, telling

needs_compiler = pytest.mark.needs_compiler


@pytest.fixture
def cruise() -> Document:
    return cruise_document()


# what cannot be read


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"schema": "chaincover/chain/6", "chain": null}',
        '{"schema": "chaincover/chain/6", "chain": {}}',
    ],
)
def test_a_damaged_file_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "chain.json").write_text(text)
    outcome = chaincover("verify", CRUISE, tmp_path)
    assert outcome.code == 3
    assert str(tmp_path / "chain.json") in outcome.err


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("bounds", "lower"), "9"),
        (("certificate", "claims"), [1]),
        (("certificate", "claims"), None),
        (("settings", "overlap"), "maybe"),
        (("chain", "hits"), [{"goal": "p_1"}]),
        (("controller", "sources"), [1]),
    ],
)
def test_a_damaged_part_is_refused(keys: tuple[str, str], value: object, cruise: Document, tmp_path: Path) -> None:
    cruise[keys[0]][keys[1]] = value
    (tmp_path / "chain.json").write_text(json.dumps(cruise))
    outcome = chaincover("verify", CRUISE, tmp_path)
    assert outcome.code == 3
    assert "damaged" in outcome.err


def test_a_field_that_stands_twice_is_refused(cruise: Document, tmp_path: Path) -> None:
    """Readers differ in which one they take: what was checked need not be what another one reads."""
    text = json.dumps(cruise, indent=1).replace('"lower": 9', '"lower": 8,\n"lower": 9', 1)
    (tmp_path / "chain.json").write_text(text)
    outcome = chaincover("verify", CRUISE, tmp_path)
    assert outcome.code == 3
    assert 'the key "lower" stands twice in one object' in outcome.err


def test_a_missing_file_and_a_goal_that_is_gone(cruise: Document, tmp_path: Path) -> None:
    assert chaincover("verify", CRUISE, tmp_path / "none").code == 3
    cruise["goals"].append({**cruise["goals"][0], "name": "p_9", "property": "p_9()"})
    outcome = verify(cruise, tmp_path, CRUISE)
    assert outcome.code == 3
    assert "the program has no goal 'p_9'" in outcome.json["error"]


# several chains


@pytest.fixture
def several(priced: Path) -> Path:
    """Two chains, one for each of two branches, with a certificate each, and none of both together."""
    change_text(priced / "out" / "chains.json", certificate=None)
    return priced


@pytest.fixture(scope="module")
def priced_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same two chains, with prices of both together."""
    folder = tmp_path_factory.mktemp("priced")
    code = program("if (s->n == 0) s->n = i->a;", head=HEAD)
    write_files(folder, {"p/c.c": code, "p/chaincover.toml": project("[ranges]\na = '0..2'")})
    goals = ("--property", "one: cover(n == 1)", "--property", "two: cover(n == 2)")
    chaincover("generate", folder / "p", "-o", folder / "out", "--several", "--no-replay", "-q", *goals)
    for number in (1, 2):
        place = folder / "out" / f"chain-{number}.json"
        document = json.loads(place.read_text())
        document["certificate"] = direct_proof(document, [])
        place.write_text(json.dumps(document))
    return folder


@pytest.fixture
def priced(priced_once: Path, tmp_path: Path) -> Path:
    shutil.copytree(priced_once, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.mark.slow
@needs_compiler
def test_several_chains(several: Path) -> None:
    outcome = chaincover("verify", several / "p", several / "out", "--json")
    found = verdicts(outcome)
    assert outcome.code == 0, outcome.json
    assert found["chain-1.json: chain"] == found["chain-2.json: lower bound"] == "holds"
    assert found["chain-2.json: all runs"] == "note", "the certificates speak of no reachable states"
    assert found["all chains"] == found["number of chains"] == "holds"
    assert change_summary(several, lower=2, minimal=True, number_minimal=True).code == 0
    assert change_summary(several, lower=0, minimal=False, number_minimal=False).code == 0


OTHER_CONFLICT = {"goals": ["one", "three"], "reason": "", "at_all": True}


def change_text(place: Path, **values: object) -> None:
    """Write other values into a JSON file."""
    place.write_text(json.dumps({**json.loads(place.read_text()), **values}))


def change_summary(several: Path, **values: object) -> Outcome:
    """Verify with other values in the summary."""
    place = several / "out" / "chains.json"
    change_text(place, **values)
    return chaincover("verify", several / "p", place, "--json")


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(
    ("key", "value", "check", "text"),
    [
        ("length", 1, "all chains", "the chains have 2 steps, not 1"),
        ("conflicts", [], "number of chains", "would allow 1 chain"),
        (
            "conflicts",
            [{"goals": ["one", "three"], "reason": "", "at_all": True}],
            "number of chains",
            "would allow 1 chain",
        ),
        ("lower", 3, "total length", "the bound 3 is above the 2 steps"),
        ("minimal", "yes", "all chains", "the chains are said to be minimal: 2 steps, bound 1"),
    ],
)
def test_a_changed_summary_is_found_out(key: str, value: object, check: str, text: str, several: Path) -> None:
    values = {"lower": 1, "minimal": False, "number_minimal": True, key: value}
    outcome = change_summary(several, **values)
    assert outcome.code == 7
    assert text in texts(outcome, check)


@needs_compiler
def test_goals_that_do_fit_into_one_chain(several: Path) -> None:
    """The program lets both be covered now: the chains are right, their number is not the least."""
    write_files(several, {"p/c.c": program("if (s->n >= 0) s->n = i->a;", head=HEAD)})
    outcome = change_summary(several, lower=1, minimal=False, number_minimal=True)
    assert outcome.code == 7
    assert wrong(outcome) == {"conflicts", "number of chains"}
    assert "no chain covers one, two together: a run of 2 steps does so" in texts(outcome, "number of chains")


@needs_compiler
def test_chains_of_fewer_steps_in_all(several: Path) -> None:
    """One step would do for both goals, were it allowed to take two chains: the bound of 2 on all steps is wrong."""
    code = "if (s->n == 0) s->n = i->a; s->m = 0; if (i->b) s->n = 2;"
    write_files(several, {"p/c.c": program(code, head=HEAD)})
    outcome = change_summary(several, lower=3, length=3, minimal=True, number_minimal=False)
    assert "total length" in wrong(outcome)
    assert "2 chains of 2 steps in all cover the goals, below 3" in texts(outcome, "total length")


@pytest.mark.slow
@needs_compiler
def test_goals_that_no_chain_covers(several: Path) -> None:
    verdicts_now = json.loads((several / "out" / "chains.json").read_text())["verdicts"]
    gone = {"goal": "far", "verdict": "unreachable", "step": None, "detail": "", "property": "cover(n == 3)"}
    outcome = change_summary(several, verdicts=[*verdicts_now, gone], lower=0, minimal=False)
    assert verdicts(outcome)["goals not covered"] == "holds"
    outcome = change_summary(several, verdicts=[*verdicts_now, {**gone, "property": "cover(n == 2 && b)"}])
    assert "goals not covered" in wrong(outcome)


@needs_compiler
def test_prices_prove_number_and_total_without_conflicts(priced: Path) -> None:
    outcome = change_summary(priced, conflicts=[])
    checks = verdicts(outcome)
    assert (outcome.code, checks["number of chains"], checks["total length"]) == (0, "holds", "holds")
    assert checks["prices of goals, number of chains"] == checks["prices of goals, total length"] == "holds"
    assert "see the prices" in texts(outcome, "number of chains")
    outcome = change_summary(priced, certificate=None)
    assert wrong(outcome) == {"number of chains"}, "without both, fewer chains would do"


def of_number(proof: Document) -> Document:
    """The claim of the smallest number of chains."""
    found: Document = next(claim for claim in proof["claims"] if claim["of"] == "number")
    return found


def of_total(proof: Document) -> Document:
    """The claim of the total length."""
    found: Document = next(claim for claim in proof["claims"] if claim["of"] == "chains")
    return found


FORGED: dict[str, tuple[Callable[[Document], object], str]] = {
    "a price of the number": (
        lambda proof: of_number(proof)["goals"].update(one=1 << 20),
        "prices of goals, number of chains",
    ),
    "a price of the total": (
        lambda proof: of_total(proof)["goals"].update(one=of_total(proof)["goals"].get("one", 0) + (1 << 40)),
        "prices of goals, total length",
    ),
    "a price of a cut": (
        lambda proof: of_number(proof)["cuts"][0].update(price=-1),
        "prices of goals, number of chains",
    ),
    "a state of a cut": (
        lambda proof: of_number(proof)["cuts"][0].update(inside=[0, 1]),
        "prices of goals, number of chains",
    ),
    "the bound of the number": (lambda proof: of_number(proof).update(bound=3), "prices of goals, number of chains"),
    "the bound of the total": (lambda proof: of_total(proof).update(bound=3), "prices of goals, total length"),
    "a goal that no chain covers": (lambda proof: proof["goals"].append("far"), "prices of goals, total length"),
    "a goal twice": (lambda proof: proof["goals"].append("one"), "prices of goals, total length"),
    "another end": (lambda proof: proof.update(end="final"), "prices of goals, number of chains"),
    "another overlap": (lambda proof: proof.update(overlap="forbid"), "prices of goals, number of chains"),
    "a bound of one chain": (lambda proof: proof.update(lower=1), "prices of goals, number of chains"),
    "no claim": (lambda proof: proof["claims"].clear(), "prices of goals"),
    "a claim twice": (
        lambda proof: proof["claims"].append(of_total(proof)),
        "prices of goals, total length",
    ),
    "a claim of one chain": (
        lambda proof: proof["claims"].insert(0, {"claim": "prices", "of": "orders", "bound": 1}),
        "prices of goals, number of chains",
    ),
}
"""What is changed in the certificate of all chains, and the check that finds it out."""


@needs_compiler
@pytest.mark.parametrize("forged", FORGED)
def test_forged_prices_of_several_chains_are_found_out(forged: str, priced: Path) -> None:
    proof = json.loads((priced / "out" / "chains.json").read_text())["certificate"]
    change, check = FORGED[forged]
    change(proof)
    outcome = change_summary(priced, certificate=proof)
    assert outcome.code == 7
    assert check in wrong(outcome)


@needs_compiler
def test_prices_do_not_hold_where_the_program_is_another_one(priced: Path) -> None:
    """Both goals fit into one chain now."""
    write_files(priced, {"p/c.c": program("if (s->n >= 0) s->n = i->a;", head=HEAD)})
    outcome = change_summary(priced)
    assert {"prices of goals, number of chains", "number of chains"} <= wrong(outcome)


@needs_compiler
def test_prices_of_more_chains_are_no_proof_of_fewer(priced: Path) -> None:
    """A true claim of three chains says nothing of two; they are looked at by all sets of goals that one run covers."""
    proof = json.loads((priced / "out" / "chains.json").read_text())["certificate"]
    of_total(proof).update(chains=3)
    outcome = change_summary(priced, certificate=proof)
    assert outcome.code == 0
    assert "see the prices" not in texts(outcome, "total length")


@pytest.fixture
def no_chain(tmp_path: Path) -> Path:
    """A summary that names no chain, as both goals are unreachable; a requirement is never violated."""
    write_files(tmp_path, {"p/c.c": program("if (s->n < 3) s->n++;", head=HEAD), "p/chaincover.toml": project("")})
    goals = ("--property", "far: cover(n == 7)", "--property", "r: G(n == 5 -> X(n == 4))")
    ended = chaincover("generate", tmp_path / "p", "-o", tmp_path / "out", "--several", "--no-native", "-q", *goals)
    assert ended.code == 4
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["chains.json"]
    return tmp_path


@needs_compiler
def test_what_is_said_where_there_is_no_chain_is_checked(no_chain: Path) -> None:
    outcome = change_summary(no_chain)
    assert outcome.code == 0
    checks = verdicts(outcome)
    assert (checks["sources"], checks["total length"]) == ("note", "not claimed")
    holding = {"all chains", "fields", "number of chains", "goals not covered", "never violated"}
    assert {check for check, verdict in checks.items() if verdict == "holds"} == holding


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"verdict": "covered"}, "fields"),
        ({"verdict": "undecided"}, "number of chains"),
        ({"property": "cover(n == 2)"}, "goals not covered"),
    ],
)
def test_a_wrong_word_where_there_is_no_chain_is_found_out(change: Document, check: str, no_chain: Path) -> None:
    far, other = json.loads((no_chain / "out" / "chains.json").read_text())["verdicts"]
    assert check in wrong(change_summary(no_chain, verdicts=[{**far, **change}, other]))


@pytest.mark.parametrize("values", [{"length": 1}, {"lower": 1}, {"minimal": True}])
def test_numbers_where_there_is_no_chain_are_found_out(values: Document, no_chain: Path) -> None:
    assert change_summary(no_chain, **values).code == 7


def test_a_summary_without_chain_and_settings_is_refused(no_chain: Path) -> None:
    assert change_summary(no_chain, settings={"final": None}).code == 3


@seeds(40)
def test_the_least_total_is_that_of_every_choice(seed: int) -> None:
    rng = random.Random(seed)
    goals = [f"g{place}" for place in range(rng.randint(0, 5))]
    covers = {
        frozenset(rng.sample(goals, rng.randint(0, len(goals)))): rng.randint(0, 9) for _ in range(rng.randint(0, 7))
    }
    number = rng.randint(1, 3)
    choices = [some for size in range(number + 1) for some in combinations(covers, size)]
    fitting = [sum(covers[one] for one in some) for some in choices if frozenset().union(*some) == {*goals}]
    assert least_total(goals, covers, number, Clock(Limits())) == min(fitting, default=inf)


@seeds(60)
def test_goals_that_come_with_others_change_no_total(seed: int) -> None:
    rng = random.Random(seed)
    goals = [f"g{place}" for place in range(rng.randint(1, 6))]
    sets = [frozenset(rng.sample(goals, rng.randint(0, len(goals)))) for _ in range(rng.randint(0, 6))]
    with_others = {frozenset({*some, *(["g0"] if "g1" in some else [])}): rng.randint(0, 9) for some in sets}
    left, number = telling(goals, with_others), rng.randint(1, 3)
    assert least_total(left, with_others, number, Clock(Limits())) == least_total(
        goals, with_others, number, Clock(Limits())
    )
    if any("g1" in some for some in with_others):
        assert "g0" not in left or "g1" not in left


@seeds(30)
def test_the_least_total_of_more_goals_and_runs_is_that_of_every_choice(seed: int) -> None:
    rng = random.Random(seed)
    goals = [f"g{place}" for place in range(rng.randint(5, 9))]
    covers = {frozenset(rng.sample(goals, rng.randint(1, 5))): rng.randint(1, 30) for _ in range(rng.randint(6, 14))}
    number = rng.randint(3, 5)
    best = {frozenset[str](): 0}
    for _ in range(number):
        for before, steps in list(best.items()):
            for names, length in covers.items():
                best[before | names] = min(best.get(before | names, steps + length), steps + length)
    assert least_total(goals, covers, number, Clock(Limits())) == best.get(frozenset(goals), inf)


def test_two_of_many_runs_are_chosen_within_the_default_limits() -> None:
    """Any 8 of 14 goals take 3 steps and 2 for each: more pairs of runs than are compared one by one."""
    goals = [f"g{place}" for place in range(14)]
    covers = {frozenset(some): 3 + 2 * size for size in range(9) for some in combinations(goals, size)}
    assert least_total(goals, covers, 1, Clock(Limits())) == inf
    assert least_total(goals, covers, 2, Clock(Limits())) == 2 * 3 + 14 * 2


def test_the_search_for_the_least_total_ends_with_its_limits() -> None:
    """Of 22 goals there are too many unions."""
    goals = [f"g{place}" for place in range(22)]
    covers = {frozenset(some): 1 for some in combinations(goals, 3)}
    assert least_total(goals, covers, 6, Clock(Limits(nodes=100_000))) is None
    assert least_total(goals, covers, 6, Clock(Limits(seconds=0.0))) is None


FAMILIES = {
    "recipes of places that take longer from one to the next": (
        "if (!s->n) { if (i->a > 0) s->n = i->a; } else if (i->b) { if (s->k < s->n) s->k++; "
        "else if (s->m < 3) { s->m++; s->k = 0; } }",
        ["states((n, m))"],
        4,
    ),
    "branches with a counter up and down and a flag": (
        "if (s->n == 0) { if (i->a && i->b) s->n = i->a; } else if (i->b) { if (s->m < 4) s->m++; } "
        "else { if (s->m == 2) s->k ^= 1; if (s->m > 0) s->m--; }",
        ["transitions((n, k))"],
        4,
    ),
    "latched faults that need a longer and longer time": (
        "if (s->n) { if (i->b) { if (s->m < 6) s->m++; } else s->m = 0; } "
        "else { if (i->b) s->k = s->k < 4 ? s->k + 1 : 0; if (i->a > 0 && s->k == i->a) s->n = i->a; }",
        ["states((n, m))"],
        4,
    ),
}
"""What a step does after which the first choice is never left: so many chains are needed for what it opens."""


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_number_and_total_of_several_chains_are_proved_again_in_little_work(family: str, tmp_path: Path) -> None:
    """With a hundredth of the default effort: goals that exclude each other in the same way are looked at once."""
    body, criteria, number = FAMILIES[family]
    head = HEAD.replace("int n; int m;", "unsigned char n, m, k;").replace("s->m = 0;", "s->m = 0; s->k = 0;")
    write_files(tmp_path, {"c.c": program(body, head=head), "chaincover.toml": project(f"[ranges]\na = '0..{number}'")})
    asked = [word for criterion in criteria for word in ("--cover", criterion)]
    out = tmp_path / "out"
    chaincover("generate", tmp_path, "-o", out, "--several", "--no-replay", "--no-native", "-q", *asked)
    summary = json.loads((out / "chains.json").read_text())
    assert (len(summary["chains"]), summary["minimal"]) == (number, True)
    outcome = chaincover("verify", tmp_path, out, "--no-native", "--json", "--effort", "0.01")
    found = verdicts(outcome)
    assert (found["number of chains"], found["total length"], wrong(outcome)) == ("holds", "holds", set())
