/**
 * Checkpoints: an agent's state as one JSON value, for hosts with their own storage.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import type { AgentState } from "../../agent/live_state.ts";
import type {
  ApprovalMode,
  InterruptedCall,
  PendingBatch,
  TrustGrant,
} from "../../core/approval/approval.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { AlreadyRunningError, BadRequestError } from "../../core/errors/errors.ts";
import type { QueuedMessages } from "../../core/events/event.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { extractToolCalls, type ToolCallBlock } from "../../core/messages/content.ts";
import { type HistoryRepair, repairHistory } from "../../core/messages/history.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { createResultMessage } from "../../core/messages/result_message.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { checkPending, getPendingIds } from "../../loop/tool_calls/pending_batch.ts";
import type { ContextCut } from "../context/compaction.ts";
import {
  isDecidedCall,
  isGrant,
  isMessage,
  isPendingCall,
  isQueuedMessages,
  isToolResult,
  isUsableModel,
} from "../store/entry_check.ts";
import { safeStringify } from "../store/safe_stringify.ts";
import {
  type AgentHookOptions,
  findHooks,
  restoreGate,
  restoreHistory,
  restorePlanMode,
} from "./agent_hooks.ts";
import { listAgentTools } from "./list_agent_tools.ts";
import {
  createInterruptedCall,
  getSideEffect,
  limitAttempts,
  type PendingCall,
} from "./pending_calls.ts";
import { getUndelivered } from "./queue_tracker.ts";
import { restoreQueues } from "./restore_queues.ts";

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
  /** The part of the history that requests omit, if any. */
  readonly cut?: ContextCut;
  /** The tool calls of the last reply that wait for approvals or have not ended, if any. */
  readonly pending?: PendingBatch;
  /** The mode and the grants of the approval gate, if there is one. */
  readonly approvals?: { readonly mode: ApprovalMode; readonly grants: readonly TrustGrant[] };
  /** Whether plan mode is on. Default: `false`. */
  readonly planMode?: boolean;
}

/** Options for {@linkcode restore}. */
export interface RestoreOptions extends AgentHookOptions {
  /**
   * Number of times that a tool call may start in all; one that was interrupted each time gets an error result.
   * Default: 3.
   */
  readonly maxToolAttempts?: number | undefined;
}

/** Result of {@linkcode restore}. */
export interface RestoredCheckpoint {
  /** Names of tools that the checkpoint has and the agent lacks. */
  readonly missingTools: readonly string[];
  /** Repairs made in the history. */
  readonly repairs: readonly HistoryRepair[];
}

/** Numbers of earlier attempts by the id of the call, for calls that an agent has from a checkpoint. */
const earlierAttempts = new WeakMap<Agent, ReadonlyMap<string, number>>();

/**
 * Copies the state of an agent, as of the last event, into one JSON value: history, settings, queues, the tool calls of
 * an unfinished turn, pending approvals, the cut of its compacting transform, the state of its approval gate, and plan
 * mode.
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
export function checkpoint(agent: Agent, options: AgentHookOptions = {}): AgentCheckpoint {
  const { systemPrompt, model, tools } = agent.state;
  const { transform = options.transform, approvalGate, planMode } = findHooks(agent, options);
  const pending = getPendingBatch(agent.state, {
    tools: listAgentTools(agent),
    attempts: earlierAttempts.get(agent) ?? new Map(),
  });
  const value: AgentCheckpoint = {
    type: "agent_checkpoint",
    version: 1,
    systemPrompt,
    model,
    tools: tools.map(({ name }) => name),
    messages: addFinishedResults(agent.state),
    queued: getUndelivered(agent),
    ...(transform?.cut && { cut: transform.cut }),
    ...(pending && { pending }),
    ...(approvalGate && { approvals: { mode: approvalGate.mode, grants: approvalGate.trusted } }),
    ...(planMode?.isActive && { planMode: true }),
  };
  return JSON.parse(safeStringify(value));
}

/** Returns the history with all results of a batch whose first results are in it. */
function addFinishedResults({ messages, callEvents }: AgentState): readonly AgentMessage[] {
  if (messages.at(-1)?.role !== "tool_result") return messages;
  const answered = new Set(
    messages.flatMap((message) => message.role === "tool_result" ? [message.toolCallId] : []),
  );
  const results = callEvents.flatMap((event) =>
    event.type === "tool_execution_end" && !answered.has(event.id)
      ? [createResultMessage(event, { ...event.result, isError: event.isError }, 0)]
      : []
  );
  return [...messages, ...results];
}

/** The tools of the agent, and the numbers of earlier attempts by the id of the call. */
interface CallHistory {
  readonly tools: readonly AgentTool[];
  readonly attempts: ReadonlyMap<string, number>;
}

/** Returns the tool calls of the last reply that have no result; `undefined` if there are none. */
function getPendingBatch(
  state: AgentState,
  { tools, attempts }: CallHistory,
): PendingBatch | undefined {
  const { messages, pendingApprovals, decidedCalls, interruptedCalls } = state;
  if (pendingApprovals.length + interruptedCalls.length > 0) {
    return { pendingApprovals, decidedCalls, interruptedCalls };
  }
  const reply = messages.findLast(({ role }) => role !== "custom");
  const calls = reply?.role === "assistant" ? extractToolCalls(reply.content) : [];
  if (calls.length === 0) return undefined;
  return {
    pendingApprovals: [],
    interruptedCalls: calls.map((call) =>
      createInterruptedCall(toPendingCall(call, state, { tools, attempts }), {
        tools,
        maxAttempts: Infinity,
      })
    ),
  };
}

function toPendingCall(
  call: ToolCallBlock,
  { callEvents, runId }: AgentState,
  { tools, attempts }: CallHistory,
): PendingCall {
  const { id: toolCallId, name } = call;
  const events = callEvents.filter(({ id }) => id === toolCallId);
  const entry = { messageId: null, toolCallId, name };
  const ended = events.find((event) => event.type === "tool_execution_end");
  if (ended) {
    const { result, isError } = ended;
    return {
      type: "finished",
      call,
      journal: { type: "tool_finished", ...entry, result, isError },
    };
  }
  const started = events.find((event) => event.type === "tool_execution_start");
  if (!started) return { type: "not_started", call };
  const { arguments: args, idempotencyKey = `${runId}:${toolCallId}` } = started;
  const sideEffect = getSideEffect(tools.find((tool) => tool.name === name));
  return {
    type: "started",
    call,
    journal: { type: "tool_started", ...entry, arguments: args, sideEffect, idempotencyKey },
    attempts: 1 + (attempts.get(toolCallId) ?? 0),
    subAgents: [],
  };
}

/**
 * Restores the state of a checkpoint into an idle agent, whose tools stay. Runs no tool: `agent.continue()` continues an
 * unfinished turn. Plan mode is turned on if the checkpoint has it; an agent without that policy keeps only its tools that
 * change nothing.
 *
 * @throws {AlreadyRunningError} While a run is active.
 * @throws {BadRequestError} If the value is not a checkpoint; the agent is unchanged.
 */
export function restore(
  agent: Agent,
  value: unknown,
  options: RestoreOptions = {},
): RestoredCheckpoint {
  if (agent.state.isRunning) throw new AlreadyRunningError();
  const {
    systemPrompt,
    model,
    tools: names,
    messages,
    queued,
    cut,
    approvals,
    planMode,
    ...stored
  } = parseCheckpoint(value);
  const { tools } = agent.state;
  const { maxToolAttempts = 3 } = options;
  const repaired = repairHistory(messages, { pendingCalls: getPendingIds(stored.pending) });
  checkPending(stored.pending, repaired.messages);
  const hooks = findHooks(agent, options);
  if (planMode) restorePlanMode(agent, hooks);
  const pending = stored.pending && limitReruns(stored.pending, {
    messages,
    tools: listAgentTools(agent),
    maxAttempts: maxToolAttempts,
  });
  agent.setSystemPrompt(systemPrompt);
  agent.setModel(model);
  agent.setMessages(repaired.messages, pending);
  earlierAttempts.set(agent, countAttempts(stored.pending?.interruptedCalls));
  const { transform = options.transform } = hooks;
  transform?.restore(cut);
  restoreHistory(agent, hooks);
  restoreGate(hooks, approvals ?? {});
  restoreQueues(agent, queued);
  const missingTools = names.filter((name) => !tools.some((tool) => tool.name === name));
  return { missingTools, repairs: repaired.repairs };
}

/** Removes the repetitions of calls that were started too often, or whose tool is missing or must not run twice any more. */
function limitReruns(
  { interruptedCalls = [], ...pending }: PendingBatch,
  { messages, tools, maxAttempts }: Pick<AgentState, "messages" | "tools"> & {
    readonly maxAttempts: number;
  },
): PendingBatch {
  const reply = messages.findLast((message) => message.role === "assistant");
  const calls = extractToolCalls(reply?.content ?? []);
  return {
    ...pending,
    interruptedCalls: interruptedCalls.map(({ rerun, ...call }) => {
      const name = calls.find(({ id }) => id === call.toolCallId)?.name;
      const tool = tools.find((tool) => tool.name === name);
      const canRerun = rerun && getSideEffect(tool) !== "once";
      return canRerun ? limitAttempts({ ...call, rerun }, maxAttempts) : call;
    }),
  };
}

function countAttempts(calls: readonly InterruptedCall[] = []): ReadonlyMap<string, number> {
  return new Map(calls.map(({ toolCallId, rerun }) => [toolCallId, rerun?.attempts ?? 0]));
}

function parseCheckpoint(value: unknown): AgentCheckpoint {
  if (!isJsonObject(value) || value["type"] !== "agent_checkpoint") {
    throw new BadRequestError(
      "Cannot restore the agent: the value is not a checkpoint: create one with checkpoint(agent)",
    );
  }
  const { version, systemPrompt, model, tools, messages, queued, pending } = value;
  const { approvals, cut, planMode = false } = value;
  if (version !== 1) {
    const found = describeValue(version);
    throw new BadRequestError(
      `Cannot restore the agent: the checkpoint has version ${found}, and this program supports version 1: ` +
        "update the program",
    );
  }
  const isValid = typeof systemPrompt === "string" && isUsableModel(model) &&
    Array.isArray(tools) && tools.every((name) => typeof name === "string") &&
    Array.isArray(messages) && messages.every(isMessage) && isQueuedMessages(queued) &&
    (cut === undefined || isCut(cut)) && (pending === undefined || isPendingBatch(pending)) &&
    (approvals === undefined || isApprovals(approvals)) && typeof planMode === "boolean";
  if (!isValid) {
    throw new BadRequestError(
      "Cannot restore the agent: the checkpoint is damaged: use another one",
    );
  }
  return value as unknown as AgentCheckpoint;
}

function isCut(value: unknown): boolean {
  return isJsonObject(value) && typeof value["from"] === "number" &&
    typeof value["to"] === "number";
}

function isPendingBatch(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { pendingApprovals, decidedCalls = [], interruptedCalls = [] } = value;
  return isArrayWith(pendingApprovals, isPendingCall) && isArrayWith(decidedCalls, isDecidedCall) &&
    isArrayWith(interruptedCalls, isInterruptedCall);
}

function isArrayWith(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isInterruptedCall(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value["toolCallId"] !== "string") return false;
  const { result, rerun = {} } = value;
  if (!isToolResult(result) || !isJsonObject(rerun)) return false;
  const { idempotencyKey = "", attempts = 0, arguments: args = {} } = rerun;
  return typeof idempotencyKey === "string" && typeof attempts === "number" && isJsonObject(args);
}

function isApprovals(value: unknown): boolean {
  return isJsonObject(value) && typeof value["mode"] === "string" &&
    Array.isArray(value["grants"]) && value["grants"].every(isGrant);
}
