/**
 * An interrupted turn, settled by rule.
 *
 * | the journal says of a call  | what happens                                                          |
 * | --------------------------- | --------------------------------------------------------------------- |
 * | finished                    | it keeps its result                                                   |
 * | started, and may be repeated | it runs again, with the arguments and the idempotency key it had      |
 * | started, and must not be    | an error result says that its outcome is not known                    |
 * | nothing                     | it was not run; an error result says so, and the model may call again |
 *
 * @module
 */

import { extractToolCalls, type ToolCallBlock } from "../../core/content.ts";
import { getErrorMessage } from "../../core/errors.ts";
import { type HistoryRepair, repairHistory } from "../../core/history.ts";
import { cloneJson } from "../../core/json.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../../core/message.ts";
import type { Session } from "../../core/session.ts";
import type {
  EntryPosition,
  SessionEntry,
  ToolFinishedEntry,
  ToolStartedEntry,
} from "../../core/session_entry.ts";
import { type AgentTool, type AgentToolResult, errorResult, textResult } from "../../core/tool.ts";
import { getSideEffect } from "./recorder.ts";

const UNKNOWN_TEXT =
  "The outcome of this tool call is not known: it was running when the session was interrupted. " +
  "Find out what it has done before going on; do not simply call it again";
const NOT_RUN_TEXT = "This tool call was not run: the session was interrupted before it started. " +
  "Call the tool again if that is still wanted";

/** A call of the interrupted turn that has no result in the conversation. */
export type PendingCall =
  | { readonly type: "finished"; readonly call: ToolCallBlock; readonly journal: ToolFinishedEntry }
  | { readonly type: "started"; readonly call: ToolCallBlock; readonly journal: ToolStartedEntry }
  | { readonly type: "not_started"; readonly call: ToolCallBlock };

/** A history, and what is open at its end. */
export interface OpenHistory {
  /** The messages that the path holds, with mended calls in the middle. */
  readonly messages: readonly AgentMessage[];
  /** What had to be mended. */
  readonly repairs: readonly HistoryRepair[];
  /** The entry of the message whose calls are pending. */
  readonly messageId: string | null;
  /** Calls of the last reply without a result, in call order. */
  readonly pending: readonly PendingCall[];
}

/** Reads a path's messages, and what the journal knows of calls that have no result. */
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
  // The pending calls are answered below; here they are left out, so that no lost result is made up.
  const closed = repairHistory(messages.slice(0, position));
  return {
    ...closed,
    messages: [...closed.messages, ...messages.slice(position)],
    messageId: entry.id,
    pending,
  };
}

/** The result of a pending call that is not run. */
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

/** Whether a call that started may run again. */
export function canRerun(pending: PendingCall, tool: AgentTool | undefined): tool is AgentTool {
  if (pending.type !== "started" || tool === undefined) return false;
  // The tool as it was when it started decides, and so does the tool as it is now.
  return pending.journal.sideEffect !== "once" && getSideEffect(tool) !== "once";
}

/** Runs a call again as it ran before. Never rejects. */
export async function rerunToolCall(
  { call, journal }: Extract<PendingCall, { type: "started" }>,
  tool: AgentTool,
  signal: AbortSignal,
): Promise<AgentToolResult> {
  const { toolCallId, idempotencyKey, arguments: args } = journal;
  const limit = createTimeLimit(signal, tool.timeoutMs);
  const context = { toolCallId, idempotencyKey, signal: limit.signal, onUpdate: () => {} };
  try {
    const work = tool.execute(cloneJson(args), context);
    const result = await Promise.race([work, limit.expired]);
    return typeof result === "string" ? textResult(result) : result;
  } catch (thrown) {
    return errorResult(
      getErrorMessage(thrown) || `The tool "${call.name}" failed without saying why`,
    );
  } finally {
    limit.clear();
  }
}

/** The message that answers a call. */
export function createResultMessage(
  { id, name }: ToolCallBlock,
  { content, details, isError = false }: AgentToolResult,
  timestamp: number,
): ToolResultMessage {
  return {
    role: "tool_result",
    toolCallId: id,
    toolName: name,
    content,
    isError,
    ...(details !== undefined && { details }),
    timestamp,
  };
}

/** The calls of a reply that none of the messages behind it answers. */
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

/** Everything the journal knows of a reply's calls, on whatever branch they ran. */
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
  /** Rejects when the time is over, or it was aborted. */
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
  const passed = new Promise<never>((_resolve, reject) => {
    const give = () => reject(controller.signal.reason);
    if (controller.signal.aborted) give();
    else controller.signal.addEventListener("abort", give, { once: true });
  });
  passed.catch(() => {}); // the work may be over first
  const clear = () => {
    clearTimeout(timer);
    outer.removeEventListener("abort", abort);
  };
  return { signal: controller.signal, expired: passed, clear };
}
