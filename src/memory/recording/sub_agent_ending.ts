/**
 * The end of a sub-agent whose result its parent has not recorded, read from its own session.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import type { SubAgentOutcome, SubAgentStatus } from "../../core/events/run_session.ts";
import { extractText } from "../../core/messages/content.ts";
import { addCost, addUsage, zeroCost, zeroUsage } from "../../core/models/usage.ts";
import type { SessionStore } from "../../core/sessions/session.ts";
import type {
  RunEndedEntry,
  SessionEntry,
  SessionHeader,
  SubAgentSpawnedEntry,
} from "../../core/sessions/session_entry.ts";
import { getSubAgentLink } from "../store/sub_agent_link.ts";

const INTERRUPTED = "its process ended before it had a report";

/** Returns how a sub-agent ended; `undefined` while it works, in this process or another one. */
export async function readSubAgentEnding(
  store: SessionStore,
  { sessionId, toolCallId }: SubAgentSpawnedEntry,
  parent: SessionHeader,
): Promise<SubAgentOutcome | undefined> {
  const interrupted = { status: "interrupted", result: INTERRUPTED } as const;
  if (sessionId === undefined) return interrupted;
  try {
    await using reader = await store.open(sessionId, { access: "read" });
    // A log that another program wrote may name any session of the store.
    if (!isSubAgentSession(reader.header, { parent, toolCallId })) return interrupted;
    // Only a session that no process writes to has an end.
    await using session = await store.open(sessionId);
    return createOutcome(await session.path());
  } catch (error) {
    if (!(error instanceof SessionError)) throw error;
    if (error.reason === "locked") return undefined;
    return { status: "interrupted", result: `${INTERRUPTED} (${error.message})` };
  }
}

/** Whether a session is that of a sub-agent which a tool call of a session, or of one that it was forked from, has started. */
function isSubAgentSession(
  header: SessionHeader,
  { parent, toolCallId }: {
    readonly parent: SessionHeader;
    readonly toolCallId?: string | undefined;
  },
): boolean {
  const link = getSubAgentLink(header);
  return link !== undefined && link.toolCallId === toolCallId &&
    header.tenant === parent.tenant && header.user === parent.user;
}

function createOutcome(path: readonly SessionEntry[]): SubAgentOutcome {
  const spending = sumSpending(path);
  const end = path.findLast((entry) => entry.type === "run_ended");
  const result = readLastReply(path);
  if (!end) return { ...spending, status: "interrupted", result: result || INTERRUPTED };
  const status = getStatus(end);
  const problem = end.error?.message ?? end.stoppedBy?.reason ??
    (status === "aborted" ? "it was aborted" : "it failed");
  return { ...spending, status, result: result || (status === "completed" ? "" : problem) };
}

function getStatus({ error, stoppedBy, stopReason }: RunEndedEntry): SubAgentStatus {
  if (error || stoppedBy || stopReason === "error") return "failed";
  return stopReason === "aborted" ? "aborted" : "completed";
}

function readLastReply(path: readonly SessionEntry[]): string {
  const last = path.findLast((entry) =>
    entry.type === "message" && entry.message.role === "assistant"
  );
  const isReply = last?.type === "message" && last.message.role === "assistant";
  return isReply ? extractText(last.message.content) : "";
}

/** Returns the spending of the replies and tool results of a path. */
function sumSpending(path: readonly SessionEntry[]): Pick<SubAgentOutcome, "usage" | "cost"> {
  let usage = zeroUsage();
  let cost = zeroCost();
  for (const entry of path) {
    if (entry.type !== "message" && entry.type !== "reply_failed") continue;
    const { message } = entry;
    if (message.role !== "assistant" && message.role !== "tool_result") continue;
    if (message.usage) usage = addUsage(usage, message.usage);
    if (message.cost) cost = addCost(cost, message.cost);
  }
  return { usage, cost };
}
