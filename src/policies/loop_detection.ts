/**
 * A policy that detects a model repeating its tool calls.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { Policy, PolicyVerdict } from "../core/hooks/policy.ts";
import { isJsonObject } from "../core/json/json.ts";
import { extractToolCalls } from "../core/messages/content.ts";
import {
  type AgentMessage,
  type AssistantMessage,
  type ToolResultMessage,
  userMessage,
} from "../core/messages/message.ts";

/** Options for {@linkcode loopDetection}. */
export interface LoopDetectionOptions {
  /** Number of consecutive turns with equal tool calls and results that count as a loop, at least 2. Default: 3. */
  readonly lookback?: number | undefined;
  /** Text of a user message to inject instead of stopping the run. Default: none; the run stops. */
  readonly steer?: string | undefined;
}

/**
 * Creates a policy that stops or steers a run when the model makes the same tool calls with the same arguments in
 * several consecutive turns and gets the same results. Different results are progress, as for a model that polls the
 * status of a build. Only turns after the last user message count.
 *
 * @throws {BadRequestError} If `lookback` is not an integer of at least 2, or `steer` is no text.
 *
 * @example
 * ```ts
 * import { loopDetection } from "@swink/agent/policies";
 *
 * const policies = [loopDetection({ lookback: 3 })];
 * ```
 */
export function loopDetection(options: LoopDetectionOptions = {}): Policy {
  checkObject(options, "Pass options such as { lookback: 3 }");
  checkNames(options, ["lookback", "steer"], "loopDetection()");
  const { lookback = 3, steer } = options;
  if (!Number.isInteger(lookback) || lookback < 2) {
    throw new BadRequestError(
      `lookback must be an integer of at least 2, not ${describeValue(lookback)}`,
    );
  }
  assertSteer(steer);
  // Copying a long history after each turn takes time: it is read only when a turn has the calls of the previous one.
  const lastCalls = new WeakMap<AbortSignal, string>();
  return {
    name: "loop_detection",
    postTurn: (context): PolicyVerdict => {
      const { message, signal } = context;
      const previous = lastCalls.get(signal);
      const calls = serializeCalls(message);
      lastCalls.set(signal, calls);
      if (extractToolCalls(message.content).length === 0) return;
      if ((previous ?? calls) !== calls || !isLooping(context.messages, lookback)) return;
      if (steer === undefined) {
        return {
          type: "stop",
          reason:
            `The model made the same tool calls in ${lookback} consecutive turns, with the same results`,
        };
      }
      return { type: "inject", messages: [userMessage(steer, message.timestamp)] };
    },
  };
}

/** A message without text would be refused by some providers. */
function assertSteer(steer: unknown): void {
  if (steer === undefined || (typeof steer === "string" && steer.trim() !== "")) return;
  throw new BadRequestError(`steer must be a text for the model, not ${describeValue(steer)}`);
}

/** Whether the last turns after the last user message are all equal. */
function isLooping(messages: readonly AgentMessage[], lookback: number): boolean {
  const replies: AssistantMessage[] = [];
  const results = new Map<string, ToolResultMessage>();
  for (let index = messages.length - 1; index >= 0 && replies.length < lookback; index--) {
    const message = messages[index];
    if (message?.role === "user") break;
    if (message?.role === "tool_result") results.set(message.toolCallId, message);
    if (message?.role === "assistant") replies.push(message);
  }
  const [last, ...earlier] = replies;
  if (!last || replies.length < lookback) return false;
  return earlier.every((reply) =>
    serializeCalls(reply) === serializeCalls(last) &&
    serializeResults(reply, results) === serializeResults(last, results)
  );
}

/** Serializes the names and arguments of a reply's tool calls, without their ids and with sorted keys. */
function serializeCalls({ content }: AssistantMessage): string {
  const calls = extractToolCalls(content);
  return JSON.stringify(calls.map(({ name, arguments: args }) => [name, sortKeys(args)]));
}

/** Serializes what the model reads of the results of a reply's tool calls. */
function serializeResults(
  { content }: AssistantMessage,
  results: ReadonlyMap<string, ToolResultMessage>,
): string {
  const own = extractToolCalls(content).map(({ id }) => results.get(id));
  return JSON.stringify(own.map((result) => [result?.isError, result?.content]));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  return Object.keys(value).toSorted().map((key) => [key, sortKeys(value[key])]);
}
