/**
 * Policies of a run that guard the agents which its tools run.
 *
 * @module
 */

import { isThenable } from "../../core/errors/refuse_promise.ts";
import type { Policy } from "../../core/hooks/policy.ts";
import { isJsonObject } from "../../core/json/json.ts";

const policyOfGuard = new WeakMap<Policy, Policy>();

/** Policies that concern one run alone, so that the agents which its tools run do not inherit them. */
export const ownPolicies: WeakSet<Policy> = new WeakSet();

/**
 * Adds to the policies of an agent the guards from those of its parent, last, so that they check arguments as the other
 * policies leave them. A policy that both have is called once.
 */
export function addGuards(own: readonly Policy[], inherited: readonly Policy[]): Policy[] {
  const known = new Set(own.map(getOrigin));
  const isGuarding = (policy: Policy) => !known.has(getOrigin(policy)) && !ownPolicies.has(policy);
  return [...own, ...inherited.filter(isGuarding).map(toGuard)];
}

/** Returns a policy that refuses, stops, observes and replaces results as another one does, but changes and adds nothing. */
function toGuard(policy: Policy): Policy {
  if (policyOfGuard.has(policy)) return policy;
  const { name } = policy;
  const guard: Policy = {
    name,
    ...(policy.preTurn && { preTurn: (context) => keepGuarding(policy.preTurn?.(context)) }),
    ...(policy.preRequest && {
      preRequest: (context) => keepGuarding(policy.preRequest?.(context)),
    }),
    ...(policy.preCompaction && {
      preCompaction: (context) => policy.preCompaction?.(context),
    }),
    ...(policy.postCompaction && {
      postCompaction: (context) => policy.postCompaction?.(context),
    }),
    ...(policy.canUseTool && {
      canUseTool: (context) => policy.canUseTool?.(context) ?? false,
    }),
    ...(policy.preDispatch && {
      preDispatch: (context) => keepGuarding(policy.preDispatch?.(context)),
    }),
    ...(policy.onRefused && { onRefused: (context) => policy.onRefused?.(context) }),
    ...(policy.postDispatch && { postDispatch: (context) => policy.postDispatch?.(context) }),
    ...(policy.postTurn && { postTurn: (context) => keepGuarding(policy.postTurn?.(context)) }),
    ...(policy.postLoop && { postLoop: (context) => policy.postLoop?.(context) }),
    ...(policy.onDelta && { onDelta: (context) => policy.onDelta?.(context) }),
  };
  policyOfGuard.set(guard, policy);
  return guard;
}

function getOrigin(policy: Policy): Policy {
  return policyOfGuard.get(policy) ?? policy;
}

/** Drops the verdicts that are meant for the parent's own conversation; others, also invalid ones, stay. */
function keepGuarding<Verdict>(verdict: Verdict): Verdict | undefined {
  // A promise of a verdict is itself of the type of the hook's return value.
  if (isThenable(verdict)) return verdict.then(keepGuarding) as Verdict;
  const isOwn = isJsonObject(verdict) && (verdict.type === "inject" || verdict.type === "change");
  return isOwn ? undefined : verdict;
}
