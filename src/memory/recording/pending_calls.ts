/**
 * Settles the tool calls of an interrupted turn.
 *
 * | in the tool journal          | result                                                            |
 * | ---------------------------- | ----------------------------------------------------------------- |
 * | finished                     | its result                                                        |
 * | started, may be repeated     | it runs again, with the same arguments and idempotency key        |
 * | started, must not be repeated | an error result: its outcome is unknown                          |
 * | missing                      | an error result: it was not run, and the model may call it again  |
 *
 * @module
 */

import { extractToolCalls, type ToolCallBlock } from "../../core/content.ts";
import { getErrorMessage } from "../../core/errors.ts";
import { type HistoryRepair, repairHistory } from "../../core/history.ts";
import { cloneJson, type JsonObject } from "../../core/json.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../../core/message.ts";
import { formatErrors } from "../../core/compile_schema.ts";
import type { Session } from "../../core/session.ts";
import type {
  EntryPosition,
  SessionEntry,
  ToolFinishedEntry,
  ToolStartedEntry,
} from "../../core/session_entry.ts";
import type { AgentTool, ToolContext } from "../../core/tool.ts";
import { type AgentToolResult, errorResult, toToolResult } from "../../core/tool_result.ts";
import { toValidSpending } from "../../core/usage.ts";
import { validateArguments } from "../../core/validate_arguments.ts";
import { getSideEffect } from "./recorder.ts";

const UNKNOWN_TEXT =
  "The outcome of this tool call is not known: it was running when the session was interrupted. " +
  "Check its effects before you continue; do not repeat the call without checking";
const NOT_RUN_TEXT = "This tool call was not run: the session was interrupted before it started. " +
  "Call the tool again if it is still needed";

/** A tool call of the interrupted turn that has no result message. */
export type PendingCall =
  | { readonly type: "finished"; readonly call: ToolCallBlock; readonly journal: ToolFinishedEntry }
  | { readonly type: "started"; readonly call: ToolCallBlock; readonly journal: ToolStartedEntry }
  | { readonly type: "not_started"; readonly call: ToolCallBlock };

/** A history and its pending tool calls. */
export interface OpenHistory {
  /** The messages of the path, repaired except for the last turn. */
  readonly messages: readonly AgentMessage[];
  /** Repairs made in the messages. */
  readonly repairs: readonly HistoryRepair[];
  /** Id of the entry of the message whose tool calls are pending; `null` if there is none. */
  readonly messageId: string | null;
  /** Tool calls of the last reply without a result, in call order. */
  readonly pending: readonly PendingCall[];
}

/** Reads the messages of a path, and the tool journal of calls that have no result. */
export async function readOpenHistory(
  session: Session,
  path: readonly SessionEntry[],
): Promise<OpenHistory> {
  const entries = path.filter((entry) => entry.type === "message");
  const messages = entries.map(({ message }) => message);
  const position = messages.findLastIndex(({ role }) => role !== "tool_result");
  const message = messages[position];
  const entry = entries[position];
  const open = message?.role === "assistant"
    ? findOpenCalls(message, messages.slice(position + 1))
    : [];
  if (!entry || open.length === 0) {
    return { ...repairHistory(messages), messageId: null, pending: [] };
  }
  const journal = await readToolJournal(session, entry);
  const pending = open.map((call) => createPendingCall(call, journal));
  // The repair must not add results for the pending calls, which are settled later.
  const closed = repairHistory(messages.slice(0, position));
  return {
    ...closed,
    messages: [...closed.messages, ...messages.slice(position)],
    messageId: entry.id,
    pending,
  };
}

/** Returns the result of a pending call that is not run again: the recorded one, or an error result. */
export function getResultWithoutRunning(pending: PendingCall): AgentToolResult {
  switch (pending.type) {
    case "finished":
      return { ...pending.journal.result, isError: pending.journal.isError };
    case "started":
      return errorResult(UNKNOWN_TEXT);
    case "not_started":
      return errorResult(NOT_RUN_TEXT);
  }
}

/** Whether a call that has started may run again. */
export function canRerun(pending: PendingCall, tool: AgentTool | undefined): tool is AgentTool {
  if (pending.type !== "started" || tool === undefined) return false;
  // Both the tool at the time of the call and the current tool must allow it.
  return pending.journal.sideEffect !== "once" && getSideEffect(tool) !== "once";
}

/**
 * Runs a call again with its recorded arguments, unless the current schema of the tool rejects them. Never rejects.
 */
export async function rerunToolCall(
  { call, journal }: Extract<PendingCall, { type: "started" }>,
  tool: AgentTool,
  signal: AbortSignal,
): Promise<AgentToolResult> {
  const { toolCallId, idempotencyKey, arguments: args } = journal;
  const limit = createTimeLimit(signal, tool.timeoutMs);
  const context = {
    toolCallId,
    idempotencyKey,
    runId: idempotencyKey.slice(0, idempotencyKey.lastIndexOf(":")),
    turn: 0,
    context: undefined,
    messages: [],
    signal: limit.signal,
    onUpdate: () => {},
    onEvent: () => Promise.resolve(),
  };
  try {
    const execution = executeValidated(tool, args, context);
    return await Promise.race([execution, limit.expired]);
  } catch (thrown) {
    return errorResult(
      getErrorMessage(thrown) || `The tool "${call.name}" failed without an error message`,
    );
  } finally {
    limit.clear();
  }
}

async function executeValidated(
  tool: AgentTool,
  args: JsonObject,
  context: ToolContext,
): Promise<AgentToolResult> {
  const result = await validateArguments(tool, args);
  if (!result.valid) {
    const errors = formatErrors(result.errors);
    return errorResult(`${UNKNOWN_TEXT}. It cannot be repeated: invalid arguments:\n${errors}`);
  }
  // The output of `validate` is the tool's own, and may be more than JSON.
  const input = result.value === args ? cloneJson(args) : result.value;
  return toToolResult(await tool.execute(input as JsonObject, context));
}

/** Creates the result message of a call. */
export function createResultMessage(
  { id, name }: ToolCallBlock,
  { content, details, isError = false, ...result }: AgentToolResult,
  timestamp: number,
): ToolResultMessage {
  return {
    role: "tool_result",
    toolCallId: id,
    toolName: name,
    content,
    isError,
    ...(details !== undefined && { details }),
    ...toValidSpending(result),
    timestamp,
  };
}

/** Finds the tool calls of a reply that have no result among the messages after it. */
function findOpenCalls(
  message: AssistantMessage,
  results: readonly AgentMessage[],
): ToolCallBlock[] {
  const answered = new Set(
    results.flatMap((result) => result.role === "tool_result" ? [result.toolCallId] : []),
  );
  return extractToolCalls(message.content).filter(({ id }) => !answered.has(id));
}

type ToolJournalEntry = (ToolStartedEntry | ToolFinishedEntry) & EntryPosition;

/** Reads the entries of the tool journal for a reply's calls, on all branches. */
async function readToolJournal(
  session: Session,
  message: EntryPosition,
): Promise<ToolJournalEntry[]> {
  const from = session.outline.findIndex(({ id }) => id === message.id);
  const found: ToolJournalEntry[] = [];
  for (const { id, type } of session.outline.slice(from + 1)) {
    if (type !== "tool_started" && type !== "tool_finished") continue;
    const entry = await session.entry(id);
    if (entry?.type !== "tool_started" && entry?.type !== "tool_finished") continue;
    if (entry.messageId === message.id) found.push(entry);
  }
  return found;
}

function createPendingCall(call: ToolCallBlock, journal: readonly ToolJournalEntry[]): PendingCall {
  const own = journal.filter(({ toolCallId }) => toolCallId === call.id);
  const finished = own.findLast((entry) => entry.type === "tool_finished");
  if (finished) return { type: "finished", call, journal: finished };
  const started = own.findLast((entry) => entry.type === "tool_started");
  return started ? { type: "started", call, journal: started } : { type: "not_started", call };
}

interface TimeLimit {
  readonly signal: AbortSignal;
  /** Rejects after the time limit, or when the outer signal is aborted. */
  readonly expired: Promise<never>;
  readonly clear: () => void;
}

function createTimeLimit(outer: AbortSignal, milliseconds = Infinity): TimeLimit {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error("tool call cancelled: resuming was aborted"));
  const timer = Number.isFinite(milliseconds)
    ? setTimeout(
      () => controller.abort(new Error(`timed out after ${milliseconds} ms`)),
      milliseconds,
    )
    : undefined;
  if (outer.aborted) abort();
  outer.addEventListener("abort", abort, { once: true });
  const expired = new Promise<never>((_resolve, reject) => {
    const rejectWithReason = () => reject(controller.signal.reason);
    if (controller.signal.aborted) rejectWithReason();
    else controller.signal.addEventListener("abort", rejectWithReason, { once: true });
  });
  expired.catch(() => {}); // The tool may settle first.
  const clear = () => {
    clearTimeout(timer);
    outer.removeEventListener("abort", abort);
  };
  return { signal: controller.signal, expired, clear };
}
