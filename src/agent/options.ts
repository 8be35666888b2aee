/**
 * What an agent is made of.
 *
 * @module
 */

import { BadRequestError } from "../core/errors.ts";
import type { AgentMessage } from "../core/message.ts";
import type { ModelSpec } from "../core/model.ts";
import type { AgentTool } from "../core/tool.ts";
import type { AgentLoopConfig } from "../loop/config.ts";
import type { QueueMode } from "./message_queue.ts";

/** Options of an {@linkcode Agent}; only `model` and `streamFn` are required. */
export interface AgentOptions
  extends Omit<AgentLoopConfig, "model" | "steering" | "followUp" | "settings" | "memory"> {
  /** The model to ask: a spec, or a name such as `"anthropic/claude-sonnet-4-6"` or `"openai/gpt-5:high"`. */
  readonly model: ModelSpec | string;
  /** The system prompt. Default: none. */
  readonly systemPrompt?: string;
  /** The tools. Default: none. */
  readonly tools?: readonly AgentTool[];
  /** A history to start from; mended where it is not valid. Default: empty. */
  readonly messages?: readonly AgentMessage[];
  /** How queued steering is delivered. Default: `"one_at_a_time"`. */
  readonly steeringMode?: QueueMode;
  /** How queued follow-ups are delivered. Default: `"one_at_a_time"`. */
  readonly followUpMode?: QueueMode;
}

/**
 * Refuses two tools of one name.
 *
 * @throws {BadRequestError} When there are such.
 */
export function assertUniqueTools(tools: readonly AgentTool[]): readonly AgentTool[] {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name)) throw new BadRequestError(`There are two tools named "${name}"`);
    names.add(name);
  }
  return [...tools];
}
