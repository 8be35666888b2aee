/**
 * The options of an agent.
 *
 * @module
 */

import type { AgentMessage } from "../core/message.ts";
import type { ModelSpec } from "../core/model.ts";
import type { AgentTool } from "../core/tool.ts";
import type { AgentLoopConfig } from "../loop/config.ts";
import type { QueueMode } from "../loop/message_queue.ts";

/** Options for `new Agent()`; only `model` and `streamFn` are required. */
export interface AgentOptions
  extends Omit<AgentLoopConfig, "model" | "steering" | "followUp" | "settings"> {
  /** The model: a spec, or a name such as `"anthropic/claude-sonnet-4-6"` or `"openai/gpt-5:high"`. */
  readonly model: ModelSpec | string;
  /** The system prompt. Default: none. */
  readonly systemPrompt?: string;
  /** The tools. Default: none. */
  readonly tools?: readonly AgentTool[];
  /** The history to start with; invalid messages are repaired. Default: empty. */
  readonly messages?: readonly AgentMessage[];
  /** Which queued steering messages one turn takes. Default: `"one_at_a_time"`. */
  readonly steeringMode?: QueueMode;
  /** Which queued follow-up messages one turn takes. Default: `"one_at_a_time"`. */
  readonly followUpMode?: QueueMode;
}
