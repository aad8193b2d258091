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
    """Returns a belief: that a subject has a relation to an object.

    >>> belief("ana", "likes", "tea", user_id="ana")["confidence"]
    1.0
    """
    fields = {"subject": subject, "relation": relation, "object": object, "confidence": confidence}
    return {"type": "belief", **fields, **more}


def event(content: str, **more: Any) -> Fields:
    """Returns an event: what happened, or was said.

    >>> event("I moved to Porto", role="user")["type"]
    'event'
    """
    return {"type": "event", "content": content, **more}


def state(context: Mapping[str, Any], **more: Any) -> Fields:
    """Returns a state: a snapshot of an agent.

    >>> state({"mood": "good"})["context"]
    {'mood': 'good'}
    """
    return {"type": "state", "context": context, **more}


def workflow(steps: Iterable[str], trigger: str, **more: Any) -> Fields:
    """Returns a workflow: the steps that something sets off.

    >>> workflow(["boil", "pour"], "thirst")["steps"]
    ['boil', 'pour']
    """
    return {"type": "workflow", "steps": list(steps), "trigger": trigger, **more}


def action(
    tool_name: str, input: Mapping[str, Any], content: Any, *, is_error: bool = False, **more: Any
) -> Fields:
    """Returns an action: a call of a tool with its answer.

    >>> action("kettle", {"litres": 1}, "done")["is_error"]
    False
    """
    fields = {"tool_name": tool_name, "input": input, "content": content, "is_error": is_error}
    return {"type": "action", **fields, **more}


def observation(observer_id: str, observer_type: str, **more: Any) -> Fields:
    """Returns an observation of a sensor or another observer.

    >>> observation("cam-1", "camera", subject="door")["observer_type"]
    'camera'
    """
    return {"type": "observation", "observer_id": observer_id, "observer_type": observer_type, **more}


def goal(description: str, *, goal_state: str = "active", **more: Any) -> Fields:
    """Returns a goal.

    >>> goal("learn Portuguese")["goal_state"]
    'active'
    """
    return {"type": "goal", "description": description, "goal_state": goal_state, **more}


def reasoning(conclusion: str, **more: Any) -> Fields:
    """Returns a conclusion, with its premises in `premises` and its way in `inference_method`.

    >>> reasoning("she is thirsty", premises=["she asked for tea"])["premises"]
    ['she asked for tea']
    """
    return {"type": "reasoning", "conclusion": conclusion, **more}


def consensus(
    participating_observers: Iterable[str],
    *,
    threshold: int,
    agreement_count: int,
    dissent_count: int,
    **more: Any,
) -> Fields:
    """Returns a consensus of observers: how many must agree, do agree and disagree.

    >>> observers = ["cam-1", "cam-2", "cam-3"]
    >>> consensus(observers, threshold=2, agreement_count=2, dissent_count=1)["threshold"]
    2
    """
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
    """Returns a consent: who permits whom to do what.

    >>> consent("did:web:ana.example", "did:web:shop.example", ["store"])["is_withdrawal"]
    False
    """
    fields = {
        "subject_did": subject_did,
        "grantee_did": grantee_did,
        "scope": list(scope),
        "is_withdrawal": is_withdrawal,
    }
    return {"type": "consent", **fields, **more}
