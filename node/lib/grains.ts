/**
 * Builders of the ten types of grains: their required fields as arguments, the others by their names.
 */
import type { Fields } from "./options.js";

/** Returns a belief: that a subject has a relation to an object. */
export function belief(subject: string, relation: string, object: unknown, more: Fields = {}): Fields {
  return { type: "belief", subject, relation, object, confidence: 1, ...more };
}

/** Returns an event: what happened, or was said. */
export function event(content: string, more: Fields = {}): Fields {
  return { type: "event", content, ...more };
}

/** Returns a state: a snapshot of an agent. */
export function state(context: Fields, more: Fields = {}): Fields {
  return { type: "state", context, ...more };
}

/** Returns a workflow: the steps that something sets off. */
export function workflow(steps: readonly string[], trigger: string, more: Fields = {}): Fields {
  return { type: "workflow", steps, trigger, ...more };
}

/** Returns an action: a call of a tool with its answer. */
export function action(toolName: string, input: Fields, content: unknown, more: Fields = {}): Fields {
  return { type: "action", tool_name: toolName, input, content, is_error: false, ...more };
}

/** Returns an observation of a sensor or another observer. */
export function observation(observerId: string, observerType: string, more: Fields = {}): Fields {
  return { type: "observation", observer_id: observerId, observer_type: observerType, ...more };
}

/** Returns a goal. */
export function goal(description: string, more: Fields = {}): Fields {
  return { type: "goal", description, goal_state: "active", ...more };
}

/** Returns a conclusion, with its premises in `premises` and its way in `inference_method`. */
export function reasoning(conclusion: string, more: Fields = {}): Fields {
  return { type: "reasoning", conclusion, ...more };
}

/** Returns a consensus of observers: how many must agree, do agree and disagree. */
export function consensus(
  observers: readonly string[],
  counts: { threshold: number; agreement: number; dissent: number },
  more: Fields = {},
): Fields {
  return {
    type: "consensus",
    participating_observers: observers,
    threshold: counts.threshold,
    agreement_count: counts.agreement,
    dissent_count: counts.dissent,
    ...more,
  };
}

/** Returns a consent: who permits whom to do what. */
export function consent(
  subjectDid: string,
  granteeDid: string,
  scope: readonly string[],
  more: Fields = {},
): Fields {
  return {
    type: "consent",
    subject_did: subjectDid,
    grantee_did: granteeDid,
    scope,
    is_withdrawal: false,
    ...more,
  };
}
