/**
 * A policy that detects a model repeating its tool calls.
 *
 * @module
 */

import { extractToolCalls } from "../core/content.ts";
import { isJsonObject } from "../core/json.ts";
import { type AgentMessage, userMessage } from "../core/message.ts";
import type { Policy, PolicyVerdict } from "../core/policy.ts";

/** Options for {@linkcode loopDetection}. */
export interface LoopDetectionOptions {
  /** Number of consecutive turns with equal tool calls that count as a loop. Default: 3. */
  readonly lookback?: number;
  /** Text of a user message to inject instead of stopping the run. Default: none; the run stops. */
  readonly steer?: string;
}

/**
 * Creates a policy that stops or steers a run when the model makes the same tool calls with the same arguments in
 * several consecutive turns. Only turns after the last user message count.
 *
 * @example
 * ```ts
 * import { loopDetection } from "@swink/agent/policies";
 *
 * const policies = [loopDetection({ lookback: 3 })];
 * ```
 */
export function loopDetection(options: LoopDetectionOptions = {}): Policy {
  const { lookback = 3, steer } = options;
  return {
    name: "loop_detection",
    postTurn: ({ message, messages }): PolicyVerdict => {
      if (extractToolCalls(message.content).length === 0 || !isLooping(messages, lookback)) return;
      if (steer === undefined) {
        return {
          type: "stop",
          reason: `The model made the same tool calls in ${lookback} consecutive turns`,
        };
      }
      return { type: "inject", messages: [userMessage(steer, message.timestamp)] };
    },
  };
}

function isLooping(messages: readonly AgentMessage[], lookback: number): boolean {
  let first: string | undefined;
  let equalTurns = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (message?.role === "user") break;
    if (message?.role !== "assistant") continue;
    const fingerprint = createFingerprint(message);
    first ??= fingerprint;
    if (fingerprint !== first) break;
    if (++equalTurns === lookback) return true;
  }
  return false;
}

/** Serializes the names and arguments of a reply's tool calls, without their ids and with sorted keys. */
function createFingerprint(message: Extract<AgentMessage, { role: "assistant" }>): string {
  const calls = extractToolCalls(message.content);
  return JSON.stringify(calls.map(({ name, arguments: args }) => [name, sortKeys(args)]));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isJsonObject(value)) return value;
  return Object.keys(value).toSorted().map((key) => [key, sortKeys(value[key])]);
}
