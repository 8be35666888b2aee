/**
 * Checkpoints: an agent's state as one JSON value, for hosts with their own storage.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { AlreadyRunningError, BadRequestError } from "../../core/errors.ts";
import type { QueuedMessages } from "../../core/event.ts";
import { type HistoryRepair, repairHistory } from "../../core/history.ts";
import { isJsonObject } from "../../core/json.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { ModelSpec } from "../../core/model.ts";
import { isMessage, isModelSpec, isQueuedMessages } from "../store/entry_check.ts";
import { safeStringify } from "../store/safe_stringify.ts";

/** An agent's state; a JSON value. */
export interface AgentCheckpoint {
  readonly type: "agent_checkpoint";
  /** Version of the format. */
  readonly version: 1;
  /** The system prompt. */
  readonly systemPrompt: string;
  /** The model. */
  readonly model: ModelSpec;
  /** Names of the tools. */
  readonly tools: readonly string[];
  /** The history. */
  readonly messages: readonly AgentMessage[];
  /** The queued messages. */
  readonly queued: QueuedMessages;
}

/** Result of {@linkcode restore}. */
export interface RestoredCheckpoint {
  /** Names of tools that the checkpoint has and the agent lacks. */
  readonly missingTools: readonly string[];
  /** Repairs made in the history. */
  readonly repairs: readonly HistoryRepair[];
}

/**
 * Copies the state of an agent, as of the last event, into one JSON value.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { checkpoint, restore } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * await agent.prompt("Hello");
 * const stored = JSON.stringify(checkpoint(agent));
 *
 * const restored = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Bye!")]) });
 * restore(restored, JSON.parse(stored));
 * restored.state.messages.length; // 2
 * ```
 */
export function checkpoint(agent: Agent): AgentCheckpoint {
  const { systemPrompt, model, tools, messages } = agent.state;
  const value: AgentCheckpoint = {
    type: "agent_checkpoint",
    version: 1,
    systemPrompt,
    model,
    tools: tools.map(({ name }) => name),
    messages,
    queued: agent.queued,
  };
  return JSON.parse(safeStringify(value));
}

/**
 * Restores the state of a checkpoint into an idle agent. Tools that the checkpoint does not name are removed from
 * the agent.
 *
 * @throws {AlreadyRunningError} While a run is active.
 * @throws {BadRequestError} If the value is not a checkpoint; the agent is unchanged.
 */
export function restore(agent: Agent, value: unknown): RestoredCheckpoint {
  if (agent.state.isRunning) throw new AlreadyRunningError();
  const { systemPrompt, model, tools: names, messages, queued } = parseCheckpoint(value);
  const { tools } = agent.state;
  const repaired = repairHistory(messages);
  agent.setSystemPrompt(systemPrompt);
  agent.setModel(model);
  agent.setTools(tools.filter(({ name }) => names.includes(name)));
  agent.setMessages(repaired.messages);
  agent.clearQueues();
  for (const { message } of queued.steering) agent.steer(message);
  for (const { message } of queued.followUp) agent.followUp(message);
  const missingTools = names.filter((name) => !tools.some((tool) => tool.name === name));
  return { missingTools, repairs: repaired.repairs };
}

function parseCheckpoint(value: unknown): AgentCheckpoint {
  if (!isJsonObject(value) || value["type"] !== "agent_checkpoint") {
    throw new BadRequestError(
      "Cannot restore the agent: the value is not a checkpoint: create one with checkpoint(agent)",
    );
  }
  const { version, systemPrompt, model, tools, messages, queued } = value;
  if (version !== 1) {
    throw new BadRequestError(
      `Cannot restore the agent: the checkpoint has version ${version}, and this program supports version 1: ` +
        `update the program`,
    );
  }
  const isValid = typeof systemPrompt === "string" && isModelSpec(model) &&
    Array.isArray(tools) && tools.every((name) => typeof name === "string") &&
    Array.isArray(messages) && messages.every(isMessage) && isQueuedMessages(queued);
  if (!isValid) {
    throw new BadRequestError(
      "Cannot restore the agent: the checkpoint is damaged: use another one",
    );
  }
  return value as unknown as AgentCheckpoint;
}
