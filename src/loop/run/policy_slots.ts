/**
 * Calls the hooks of policies.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { ignoreRejections, isThenable } from "../../core/errors/refuse_promise.ts";
import type { StoppedBy } from "../../core/events/stopped_by.ts";
import type {
  ChangeVerdict,
  HideVerdict,
  InjectVerdict,
  Policy,
  PolicyVerdict,
  PostLoopContext,
  PostTurnContext,
  PreTurnContext,
  SkipVerdict,
  StopVerdict,
} from "../../core/hooks/policy.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { type AgentMessage, copyMessages } from "../../core/messages/message.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import type { RunServices } from "./run_services.ts";

/** The combined verdict of all policies in a slot. */
export interface SlotVerdict {
  /** The first stop. */
  readonly stoppedBy?: StoppedBy;
  /** All injected messages, in order. */
  readonly injected: readonly AgentMessage[];
}

/** Runs the policies before a turn. */
export function runPreTurn(run: RunServices, context: PreTurnContext): Promise<SlotVerdict> {
  return runSlot(run, "preTurn", (policy) => policy.preTurn?.(context));
}

/** Runs the policies after a turn, when its messages are in the history. */
export function runPostTurn(run: RunServices, context: PostTurnContext): Promise<SlotVerdict> {
  return runSlot(run, "postTurn", (policy) => policy.postTurn?.(context));
}

/** Runs the policies at the end of a run; their verdicts are ignored. */
export async function runPostLoop(run: RunServices, context: PostLoopContext): Promise<void> {
  await runSlot(run, "postLoop", (policy) => policy.postLoop?.(context));
}

/** The value that a hook returned, or the reason why it failed. */
export type HookOutcome<Value> =
  | { readonly type: "returned"; readonly value: Value }
  | { readonly type: "failed"; readonly reason: string };

/** The name of a hook. */
export type HookName = Exclude<keyof Policy, "name">;

/** A call of a hook. */
export interface HookCall<Value> {
  /** Name of the hook, for warnings. */
  readonly hook: HookName;
  /** Calls the hook. */
  readonly call: () => unknown;
  /** Ends the wait for the hook. Default: the cancellation of the run. */
  readonly cancellation?: Cancellation;
  /** Converts what the hook returned; throws if it is invalid. */
  readonly parse: (returned: unknown) => Value;
}

/** Returns the subject of an error message about a hook. */
export function formatHook({ name }: Policy, hook: HookName): string {
  return `The policy "${name}" (${hook})`;
}

/**
 * Calls one hook. It fails if it throws or rejects, if it does not settle after an abort, or if `parse` throws on what
 * it returned; a failure is reported as a `warning` event.
 */
export async function callPolicy<Value>(
  run: RunServices,
  policy: Policy,
  { hook, call, parse, cancellation = run.cancellation }: HookCall<Value>,
): Promise<HookOutcome<Value>> {
  try {
    const returned = call();
    const value = isThenable(returned) ? await cancellation.withGrace(returned) : returned;
    return { type: "returned", value: parse(value) };
  } catch (thrown) {
    await warnHookFailed(run, { policy, hook, thrown });
    return { type: "failed", reason: getErrorMessage(thrown) };
  }
}

/** A hook that failed. */
interface FailedHook {
  readonly policy: Policy;
  readonly hook: HookName;
  readonly thrown: unknown;
}

/** Reports a hook that failed as a `warning` event; returns a promise if the caller should wait. */
export function warnHookFailed(
  { events }: RunServices,
  { policy, hook, thrown }: FailedHook,
): Promise<void> | undefined {
  const message = `${formatHook(policy, hook)} failed: ${getErrorMessage(thrown)}`;
  return events.warn("policy_failed", message, { policy: policy.name });
}

/** A verdict that has an effect. */
export type EffectiveVerdict =
  | StopVerdict
  | InjectVerdict
  | SkipVerdict
  | ChangeVerdict
  | HideVerdict;

/**
 * Checks what a hook returned; `undefined` continues. The verdict has copies of its messages.
 *
 * @throws {TypeError | BadRequestError} If it is no verdict of a type that the slot knows.
 */
export function parseVerdict<Type extends EffectiveVerdict["type"]>(
  returned: unknown,
  types: readonly Type[],
): Extract<EffectiveVerdict, { type: Type }> | undefined {
  if (returned === undefined || returned === null) return undefined;
  if (!isJsonObject(returned)) throw new TypeError("a verdict must be an object with a type");
  const { type } = returned;
  if (type === "continue") return undefined;
  if (types.some((known) => known === type)) {
    const verdict = returned as unknown as Extract<EffectiveVerdict, { type: Type }>;
    return { ...verdict, ...parseContent(verdict) };
  }
  ignoreRejections(returned);
  const known = ["continue", ...types].join(", ");
  throw new TypeError(`the type of a verdict must be one of ${known}, not ${String(type)}`);
}

function parseContent(verdict: EffectiveVerdict): Partial<EffectiveVerdict> {
  switch (verdict.type) {
    case "stop":
    case "skip": {
      const { reason = "no reason given" } = verdict;
      ignoreRejections(reason);
      return { reason: String(reason) };
    }
    case "inject":
      return { messages: parseMessages(verdict.messages) };
    case "change":
    case "hide":
      return {};
  }
}

function parseMessages(messages: unknown): readonly AgentMessage[] {
  if (!Array.isArray(messages)) {
    ignoreRejections(messages);
    throw new TypeError("an inject verdict must have messages");
  }
  return copyMessages(messages);
}

function parseSlotVerdict(returned: unknown): StopVerdict | InjectVerdict | undefined {
  return parseVerdict(returned, ["stop", "inject"]);
}

async function runSlot(
  run: RunServices,
  hook: "preTurn" | "postTurn" | "postLoop",
  callHook: (policy: Policy) => PolicyVerdict | Promise<PolicyVerdict>,
): Promise<SlotVerdict> {
  const injected: AgentMessage[] = [];
  for (const policy of run.config.policies) {
    const call = () => callHook(policy);
    const outcome = await callPolicy(run, policy, { hook, call, parse: parseSlotVerdict });
    const verdict = outcome.type === "returned" ? outcome.value : undefined;
    if (verdict?.type === "inject") injected.push(...verdict.messages);
    if (verdict?.type === "stop") {
      return { stoppedBy: { policy: policy.name, reason: verdict.reason }, injected };
    }
  }
  return { injected };
}
