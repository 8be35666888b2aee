/**
 * The entries of a session about the tool calls of its replies.
 *
 * @module
 */

import type { ToolCallBlock } from "../../core/messages/content.ts";
import type { Session } from "../../core/sessions/session.ts";
import type {
  EntryPosition,
  SessionEntry,
  ToolFinishedEntry,
  ToolStartedEntry,
} from "../../core/sessions/session_entry.ts";
import { readEntries } from "../store/read_entries.ts";
import type { PendingCall } from "./pending_calls.ts";

type ToolJournalEntry = (ToolStartedEntry | ToolFinishedEntry) & EntryPosition;

/** Options for {@linkcode ToolJournal.findCall}. */
interface FindCallOptions {
  /** Id of the call in the log. Default: its id. */
  readonly loggedId?: string;
  /** The path from the reply on, which has the sub-agents that the call has started. Default: none. */
  readonly path?: readonly SessionEntry[];
}

/** The tool journal of some replies, on all branches. */
export class ToolJournal {
  readonly #entries: readonly ToolJournalEntry[];

  constructor(entries: readonly ToolJournalEntry[]) {
    this.#entries = entries;
  }

  /** Reads the journal of the replies with the given entry ids. */
  static async read(session: Session, replyIds: ReadonlySet<string>): Promise<ToolJournal> {
    const from = session.outline.findIndex(({ id }) => replyIds.has(id));
    const ids = (from < 0 ? [] : session.outline.slice(from))
      .flatMap(({ id, type }) => type === "tool_started" || type === "tool_finished" ? [id] : []);
    const entries: ToolJournalEntry[] = [];
    for (const entry of await readEntries(session, ids)) {
      if (entry.type !== "tool_started" && entry.type !== "tool_finished") continue;
      if (entry.messageId !== null && replyIds.has(entry.messageId)) entries.push(entry);
    }
    return new ToolJournal(entries);
  }

  /** Returns what the journal has about a call. */
  findCall(
    replyId: string,
    call: ToolCallBlock,
    { loggedId = call.id, path = [] }: FindCallOptions = {},
  ): PendingCall {
    const own = this.#entries.filter(({ messageId, toolCallId }) =>
      messageId === replyId && toolCallId === loggedId
    );
    const finished = own.findLast((entry) => entry.type === "tool_finished");
    if (finished) return { type: "finished", call, journal: finished };
    const starts = own.filter((entry) => entry.type === "tool_started");
    const started = starts.at(-1);
    if (!started) return { type: "not_started", call };
    const subAgents = path.flatMap((entry) =>
      entry.type === "sub_agent_spawned" && entry.toolCallId === loggedId ? [entry] : []
    );
    return { type: "started", call, journal: started, attempts: starts.length, subAgents };
  }

  /** Whether a call of a reply has started after an entry, by the order of the log. */
  hasEntriesAfter(session: Session, replyId: string, entryId: string): boolean {
    const ids = new Set(
      this.#entries.flatMap((entry) => entry.messageId === replyId ? [entry.id] : []),
    );
    const from = session.outline.findIndex(({ id }) => id === entryId);
    return session.outline.slice(from + 1).some(({ id }) => ids.has(id));
  }
}
