"""Builders of the ten types of grains: their required fields as arguments, the others by their names.

>>> import grainstore
>>> from grainstore import grains
>>> store = grainstore.in_memory()
>>> store.get(store.put(grains.goal("learn Portuguese", priority=1))).summary
'learn Portuguese'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Fields = dict[str, Any]


def belief(subject: str, relation: str, object: Any, *, confidence: float = 1.0, **more: Any) -> Fields:
    """Returns a belief: that a subject has a relation to an object."""
    fields = {"subject": subject, "relation": relation, "object": object, "confidence": confidence}
    return {"type": "belief", **fields, **more}


def event(content: str, **more: Any) -> Fields:
    """Returns an event: what happened, or was said."""
    return {"type": "event", "content": content, **more}


def state(context: Mapping[str, Any], **more: Any) -> Fields:
    """Returns a state: a snapshot of an agent."""
    return {"type": "state", "context": context, **more}


def workflow(steps: Iterable[str], trigger: str, **more: Any) -> Fields:
    """Returns a workflow: the steps that something sets off."""
    return {"type": "workflow", "steps": list(steps), "trigger": trigger, **more}


def action(
    tool_name: str, input: Mapping[str, Any], content: Any, *, is_error: bool = False, **more: Any
) -> Fields:
    """Returns an action: a call of a tool with its answer."""
    fields = {"tool_name": tool_name, "input": input, "content": content, "is_error": is_error}
    return {"type": "action", **fields, **more}


def observation(observer_id: str, observer_type: str, **more: Any) -> Fields:
    """Returns an observation of a sensor or another observer."""
    return {"type": "observation", "observer_id": observer_id, "observer_type": observer_type, **more}


def goal(description: str, *, goal_state: str = "active", **more: Any) -> Fields:
    """Returns a goal."""
    return {"type": "goal", "description": description, "goal_state": goal_state, **more}


def reasoning(conclusion: str, **more: Any) -> Fields:
    """Returns a conclusion, with its premises in `premises` and its way in `inference_method`."""
    return {"type": "reasoning", "conclusion": conclusion, **more}


def consensus(
    participating_observers: Iterable[str],
    *,
    threshold: int,
    agreement_count: int,
    dissent_count: int,
    **more: Any,
) -> Fields:
    """Returns a consensus of observers: how many must agree, do agree and disagree."""
    counts = {
        "threshold": threshold,
        "agreement_count": agreement_count,
        "dissent_count": dissent_count,
    }
    observers = list(participating_observers)
    return {"type": "consensus", "participating_observers": observers, **counts, **more}


def consent(
    subject_did: str,
    grantee_did: str,
    scope: Iterable[str],
    *,
    is_withdrawal: bool = False,
    **more: Any,
) -> Fields:
    """Returns a consent: who permits whom to do what."""
    fields = {
        "subject_did": subject_did,
        "grantee_did": grantee_did,
        "scope": list(scope),
        "is_withdrawal": is_withdrawal,
    }
    return {"type": "consent", **fields, **more}
