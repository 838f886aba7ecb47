"""Strongly connected components of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def strongly_connected(after: Sequence[Sequence[int]], nodes: Iterable[int]) -> list[int]:
    """The number of the strongly connected component of each node, those that it leads to first (Tarjan).

    ``after`` names the nodes to which arrows lead from each node. -1 for nodes to which no path leads from ``nodes``.
    """
    number, low, component = [-1] * len(after), [0] * len(after), [-1] * len(after)
    met = components = 0
    stack = list[int]()
    for root in nodes:
        calls = [(root, iter(after[root]))] if number[root] < 0 else []
        while calls:
            node, left = calls[-1]
            if number[node] < 0:
                number[node] = low[node] = met
                met += 1
                stack.append(node)
            for end in left:
                if number[end] < 0:
                    calls.append((end, iter(after[end])))
                    break
                if component[end] < 0:
                    low[node] = min(low[node], number[end])
            else:
                calls.pop()
                if calls:
                    low[calls[-1][0]] = min(low[calls[-1][0]], low[node])
                if low[node] == number[node]:
                    while component[node] < 0:
                        component[stack.pop()] = components
                    components += 1
    return component
