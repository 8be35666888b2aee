/**
 * The history of a path: its messages, repaired as far as the log has lost some of them.
 *
 * @module
 */

import type { PendingBatch } from "../../core/approval/approval.ts";
import { extractToolCalls, type ToolCallBlock } from "../../core/messages/content.ts";
import {
  type HistoryRepair,
  type RepairedHistory,
  repairHistory,
} from "../../core/messages/history.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { createResultMessage } from "../../core/messages/result_message.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { getResultWithoutRunning, type PendingCall } from "./pending_calls.ts";
import { isFinishedReply } from "./session_state.ts";
import { ToolJournal } from "./tool_journal.ts";

type LoggedMessage = Extract<SessionEntry, { type: "message" }>;

/** The history of a path. */
export interface LoggedHistory {
  /** The messages; valid except for the missing results of `open`. */
  readonly messages: readonly AgentMessage[];
  /** Id of the entry of each message; `null` for a message that a repair has added, as the next reading does again. */
  readonly entryIds: readonly (string | null)[];
  /** Repairs made in the messages. */
  readonly repairs: readonly HistoryRepair[];
  /** The last reply, if it has tool calls without results. */
  readonly open: OpenReply | undefined;
}

/** The last reply of a path, with tool calls that have no result. */
export interface OpenReply {
  /** Id of the entry of the reply. */
  readonly entryId: string;
  /** The calls without a result, in call order. */
  readonly calls: readonly PendingCall[];
  /** Whether other calls of the reply have results, so that no call can run any more. */
  readonly isAnswered: boolean;
  /** The approvals that the calls wait for, if they do. */
  readonly approvals: PendingBatch | undefined;
}

/** Reads the history of a path. */
export async function readLoggedHistory(
  session: Session,
  path: readonly SessionEntry[],
): Promise<LoggedHistory> {
  const entries = path.filter((entry): entry is LoggedMessage => entry.type === "message");
  const repaired = repairEntries(entries);
  const openReply = findOpenReply(entries, repaired);
  const openIds = new Set(openReply?.calls.map(({ call }) => call.id));
  const lost = repaired.repairs.filter(({ type }) => type === "missing_result_added");
  const replyIds = new Set(lost.flatMap(({ index }) => entries[index]?.id ?? []));
  const journal = await ToolJournal.read(session, replyIds);
  const recorded = new Map(
    lost.map(({ index, toolCallId }) =>
      [toolCallId, findRecordedResult(journal, entries[index], toolCallId)] as const
    ),
  );
  const messages: AgentMessage[] = [];
  const entryIds: (string | null)[] = [];
  repaired.messages.forEach((message, position) => {
    const source = repaired.sources[position] ?? null;
    const isAdded = source === null && message.role === "tool_result";
    if (isAdded && openIds.has(message.toolCallId)) return;
    messages.push(isAdded ? recorded.get(message.toolCallId) ?? message : message);
    entryIds.push(source === null ? null : entries[source]?.id ?? null);
  });
  return {
    messages,
    entryIds,
    repairs: repaired.repairs.filter(({ type, toolCallId = "" }) =>
      type !== "missing_result_added" || !openIds.has(toolCallId)
    ),
    open: openReply && createOpenReply(session, path, { ...openReply, journal }),
  };
}

/** Whether a history needs a reply. The log of an interrupted run may have lost the messages that do. */
export function needsReply({ messages, open }: LoggedHistory): boolean {
  if (open) return true;
  const last = messages.findLast(({ role }) => role !== "custom");
  return last !== undefined && !isFinishedReply(last);
}

interface RepairedEntries extends RepairedHistory {
  /** Index of the entry of each message; `null` for an added one. */
  readonly sources: readonly (number | null)[];
}

/** Repairs the messages of entries. */
function repairEntries(entries: readonly LoggedMessage[]): RepairedEntries {
  const messages = entries.map(({ message }) => message);
  const { repairs } = repairHistory(messages);
  // Most histories need no repair, and long ones take their time.
  if (repairs.length > 0) return locateRepairs(entries);
  return { messages, repairs, sources: entries.map((_, index) => index) };
}

/** Repairs the messages of entries. Their ids are their indices meanwhile, so that they are found again. */
function locateRepairs(entries: readonly LoggedMessage[]): RepairedEntries {
  const indexed = entries.map(({ message }, index) => ({ ...message, id: `${index}` }));
  const { messages, repairs } = repairHistory(indexed);
  const sources = messages.map(({ id }) => id === undefined ? null : Number(id));
  const repaired = messages.map((message, position) => {
    const source = sources[position] ?? -1;
    const original = entries[source]?.message;
    if (!original || message === indexed[source]) return original ?? message;
    const { id: _index, ...rest } = message;
    return { ...rest, ...(original.id !== undefined && { id: original.id }) };
  });
  return { messages: repaired, repairs, sources };
}

interface UnansweredReply {
  readonly entry: LoggedMessage;
  /** The calls without a result after the repair, and their ids before. */
  readonly calls: readonly { readonly call: ToolCallBlock; readonly loggedId: string }[];
  /** Whether other calls of the reply have results. */
  readonly isAnswered: boolean;
}

/** Finds the last reply if some of its calls have no result and no prompt follows it. */
function findOpenReply(
  entries: readonly LoggedMessage[],
  { messages, sources }: RepairedEntries,
): UnansweredReply | undefined {
  const index = entries.findLastIndex(({ message: { role } }) =>
    role === "assistant" || role === "user"
  );
  const entry = entries[index];
  const reply = messages[sources.indexOf(index)];
  if (entry?.message.role !== "assistant" || reply?.role !== "assistant") return undefined;
  const answered = new Set(
    entries.slice(index).flatMap(({ message }) =>
      message.role === "tool_result" ? [message.toolCallId] : []
    ),
  );
  const loggedCalls = extractToolCalls(entry.message.content);
  const calls = extractToolCalls(reply.content)
    .map((call, order) => ({ call, loggedId: loggedCalls[order]?.id ?? call.id }))
    // An earlier resume has recorded the result of a call without an id under the id of the repair.
    .filter(({ call, loggedId }) => !answered.has(loggedId) && !answered.has(call.id));
  return calls.length === 0 ? undefined : { entry, calls, isAnswered: answered.size > 0 };
}

/** Returns the result that the tool journal has for a call whose message the log has lost. */
function findRecordedResult(
  journal: ToolJournal,
  entry: LoggedMessage | undefined,
  toolCallId: string | undefined,
): AgentMessage | undefined {
  if (entry?.message.role !== "assistant") return undefined;
  const call = extractToolCalls(entry.message.content).find(({ id }) => id === toolCallId);
  const recorded = call && journal.findCall(entry.id, call);
  if (recorded?.type !== "finished") return undefined;
  const result = getResultWithoutRunning(recorded);
  return createResultMessage(recorded.call, result, entry.message.timestamp);
}

function createOpenReply(
  session: Session,
  path: readonly SessionEntry[],
  { entry, calls, isAnswered, journal }: UnansweredReply & { readonly journal: ToolJournal },
): OpenReply {
  const pending = path.findLast((entry) => entry.type === "approvals_pending");
  const openIds = new Set(calls.map(({ call }) => call.id));
  const pendingApprovals = (pending?.pendingApprovals ?? [])
    .filter(({ toolCallId }) => openIds.has(toolCallId));
  const isPending = pending !== undefined && pending.messageId === entry.id && !isAnswered &&
    pendingApprovals.length > 0 &&
    !journal.hasEntriesAfter(session, entry.id, pending.id);
  // Earlier replies may have calls with the same ids.
  const rest = path.slice(path.indexOf(entry));
  return {
    entryId: entry.id,
    calls: calls.map(({ call, loggedId }) =>
      journal.findCall(entry.id, call, { loggedId, path: rest })
    ),
    isAnswered,
    approvals: isPending ? { ...pending, pendingApprovals } : undefined,
  };
}
