/**
 * The options of an agent.
 *
 * @module
 */

import type { DecidedCall, PendingApproval } from "../core/approval/approval.ts";
import { checkObject } from "../core/checks/check_object.ts";
import type { AgentMessage } from "../core/messages/message.ts";
import type { ModelSpec } from "../core/models/model.ts";
import type { StreamFn } from "../core/streams/stream.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import type { EventPipe } from "../loop/events/event_pipe.ts";
import type { QueueMode } from "../loop/queues/message_queue.ts";
import {
  acceptAny,
  type CheckOption,
  checkOwnOptions,
  checkSystemPrompt,
  CONFIG_CHECKS,
  oneOf,
} from "../loop/run/check_config.ts";
import type { AgentLoopConfig } from "../loop/run/config.ts";

/**
 * Options for `new Agent()`; only `model` is required.
 *
 * Those that `AgentLoopConfig` of `@swink/agent/loop` describes are options, too: `policies`, `approve` and
 * `approvalMode`, `context`, `maxTurns`, `retry` and `fallback`, `prices`, `streamOptions` and `toolChoice`, `getApiKey`,
 * `transformContext` and `convertToLlm`, `readFile`, `toolTimeoutMs`, `interrupt`, `parent`, `validator`, and the ports.
 *
 * @typeParam Tool The type of the tools, which determines that of the `context`.
 */
export interface AgentOptions<Tool extends AgentTool<never> = AgentTool>
  extends Omit<AgentLoopConfig<Tool>, "model" | "streamFn" | "steering" | "followUp" | "settings"> {
  /** The model: a spec, or a name such as `"anthropic/claude-sonnet-5-5"` or `"openai/gpt-6.2-sol:high"`. */
  readonly model: ModelSpec | string;
  /**
   * Calls the model. Default: `connect()` of `@swink/agent/adapters`, which calls the provider of the model with the key
   * of its environment variable; loaded for the first request.
   */
  readonly streamFn?: StreamFn | undefined;
  /** The system prompt. Default: none. */
  readonly systemPrompt?: string | undefined;
  /** The tools. Default: none. */
  readonly tools?: readonly Tool[] | undefined;
  /** The history to start with; invalid messages are repaired. Default: empty. */
  readonly messages?: readonly AgentMessage[] | undefined;
  /** The tool calls at the end of `messages` that wait for a decision, from an earlier result. Default: none. */
  readonly pendingApprovals?: readonly PendingApproval[] | undefined;
  /** The other tool calls of the same reply, from the same result; a call in neither list is refused. Default: none. */
  readonly decidedCalls?: readonly DecidedCall[] | undefined;
  /** Which queued steering messages one turn takes. Default: `"one_at_a_time"`. */
  readonly steeringMode?: QueueMode | undefined;
  /** Which queued follow-up messages one turn takes. Default: `"one_at_a_time"`. */
  readonly followUpMode?: QueueMode | undefined;
}

/** The parts of an agent that other modules of the library use. */
export interface AgentInternals {
  /** The options of the agent. */
  readonly options: AgentOptions;
  /** Returns the pipe that delivers the events of the latest run, and those after it. */
  getEvents(): EventPipe;
  /** Returns the configuration of a run without options of its own. */
  createConfig(): AgentLoopConfig;
}

/** The internals of each agent. */
export const internalsByAgent: WeakMap<object, AgentInternals> = new WeakMap();

const CHECKS: Readonly<Record<keyof AgentOptions, CheckOption>> = {
  ...CONFIG_CHECKS,
  model: acceptAny,
  systemPrompt: (_name, prompt) => checkSystemPrompt(prompt),
  tools: acceptAny,
  messages: acceptAny,
  pendingApprovals: acceptAny,
  decidedCalls: acceptAny,
  steeringMode: oneOf("one_at_a_time", "all"),
  followUpMode: oneOf("one_at_a_time", "all"),
};

/**
 * Checks the options of untyped callers, except the model, the tools, the messages and their calls.
 *
 * @throws {BadRequestError} If an option is unknown, or has an invalid type or an unknown value.
 */
export function checkAgentOptions(options: AgentOptions): void {
  checkObject(options, 'Pass options with a model, as { model: "anthropic/claude-sonnet-5-5" }');
  checkOwnOptions(options, CHECKS, "the agent");
}
