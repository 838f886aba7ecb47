"""Strongly connected components: those of networkx, each after the ones to which it leads."""

from __future__ import annotations

import random

import networkx
import pytest

from bmc.analysis.components import strongly_connected


@pytest.mark.parametrize("seed", range(30))
def test_components_are_those_of_networkx(seed: int) -> None:
    source = random.Random(seed)
    size = source.randint(1, 30)
    after = [[source.randrange(size) for _ in range(source.randint(0, 2))] for _ in range(size)]
    roots = source.sample(range(size), source.randint(1, size))
    numbers = strongly_connected(after, roots)
    graph = networkx.DiGraph([(node, end) for node in range(size) for end in after[node]])
    graph.add_nodes_from(range(size))
    met = set(roots).union(*(networkx.descendants(graph, root) for root in roots))
    expected = {frozenset(part) for part in networkx.strongly_connected_components(graph.subgraph(met))}
    assert {frozenset(n for n in met if numbers[n] == number) for number in {numbers[n] for n in met}} == expected
    assert all(numbers[node] < 0 for node in range(size) if node not in met)
    assert all(numbers[end] <= numbers[node] for node in met for end in after[node])
