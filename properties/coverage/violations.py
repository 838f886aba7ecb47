"""Violations of properties as goals: the antecedent holds, and the consequent does not."""

from __future__ import annotations

from bmc.models.model import Model
from properties.coverage import Criterion, Use
from properties.goal import Goal, violation


def violations(model: Model, use: Use) -> list[Goal]:
    """One goal for each property with a consequent."""
    inputs = {var.name for var in model.system.inputs}
    return [violation(goal, inputs) for goal in use.properties if goal.consequent is not None]


CRITERIA = {"violations": Criterion(violations)}
