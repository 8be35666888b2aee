/**
 * The part of an agent's state that is already recorded on the path of its session.
 *
 * @module
 */

import type { AgentState } from "../../agent/live_state.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { Session } from "../../core/sessions/session.ts";
import type {
  MessageEntry,
  SessionEntry,
  SessionEntryBody,
} from "../../core/sessions/session_entry.ts";
import { toReference } from "../context/applied_cut.ts";
import type { CutMessages } from "../context/compaction.ts";
import { createMessageCheck, isSameMessage, locateMessage } from "../context/locate_message.ts";
import { type LoggedHistory, readLoggedHistory } from "./logged_history.ts";
import { getMessageKey } from "./message_key.ts";

/** An entry that is recorded only when it differs from the last one of its type on the path. */
type SettingEntry = Extract<
  SessionEntryBody,
  {
    type:
      | "model_changed"
      | "tools_changed"
      | "system_prompt_changed"
      | "approval_mode"
      | "grants_changed"
      | "plan_mode";
  }
>;

/** A path with its history. */
export interface ReadPath {
  /** The entries. */
  readonly path: readonly SessionEntry[];
  /** The messages. */
  readonly history: LoggedHistory;
}

/** The entries of a cut, apart from the messages that a repair has added. */
export interface EntryRange {
  /** Id of the first entry. */
  readonly firstId: string | null;
  /** Id of the last entry. */
  readonly lastId: string | null;
  /** Id of the latest entry when the cut was made. */
  readonly newestId: string | null;
  /** Ids of the entries of the messages that requests keep. */
  readonly pinnedIds: readonly string[];
  /** Number of entries. */
  readonly count: number;
}

/** Tracks the agent's state on the path of a session, so that only changes are recorded. */
export class LoggedPath {
  readonly #session: Session;
  /** The messages of the path as the agent has them: repaired, with the id of their entry if they have one. */
  #messages: { message: AgentMessage; entryId: string | null }[] = [];
  /** Keys of the messages of the path, and of those that it had before it branched. */
  #recordedKeys = new Set<string>();
  #settings = new Map<string, SessionEntryBody>();
  /** Number of entries that were checked for moves of the leaf. */
  #checkedEntries = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Loads the path.
   *
   * @param known The path and its history, if they have just been read.
   */
  async read(known?: ReadPath): Promise<readonly SessionEntry[]> {
    const path = known?.path ?? await this.#session.path();
    const { messages, entryIds } = known?.history ?? await readLoggedHistory(this.#session, path);
    this.#messages = messages.map((message, index) => ({
      message,
      entryId: entryIds[index] ?? null,
    }));
    this.#recordedKeys = new Set(messages.map(getMessageKey));
    this.#settings = new Map(path.map((entry) => [entry.type, entry]));
    this.#checkedEntries = this.#session.outline.length;
    return path;
  }

  /** Whether the host has moved the leaf since the last call. */
  hasLeafMoved(): boolean {
    const isMoved = this.#isMoved;
    this.#checkedEntries = this.#session.outline.length;
    return isMoved;
  }

  /** Returns the id of a message's entry; `null` if it has none. */
  getEntryId(message: AgentMessage | undefined): string | null {
    if (message === undefined) return null;
    const found = this.#messages.findLast((logged) => isSameMessage(logged.message, message));
    return found?.entryId ?? null;
  }

  /** Returns the entries of a cut; `undefined` if the path does not have both of its ends. */
  findRange(cut: CutMessages): EntryRange | undefined {
    const { first, last, newest, pinned } = toReference(cut);
    const messages = this.#messages.map(({ message }) => message);
    const from = locateMessage(messages, first);
    const to = locateMessage(messages, last);
    if (from < 0 || to < from) return undefined;
    const part = this.#messages.slice(from, to + 1);
    const ids = part.flatMap(({ entryId }) => entryId ?? []);
    const isPinned = createMessageCheck(pinned);
    const newestAt = newest ? locateMessage(messages, newest) : -1;
    return {
      firstId: ids[0] ?? null,
      lastId: ids.at(-1) ?? null,
      newestId: this.#messages[newestAt]?.entryId ?? null,
      pinnedIds: part.flatMap(({ message, entryId }, index) =>
        isPinned(message, from + index) ? entryId ?? [] : []
      ),
      count: ids.length,
    };
  }

  /** Returns the number of messages at the beginning of the path that a history has too. */
  countCommon(history: readonly AgentMessage[]): number {
    const difference = this.#messages.findIndex((logged, index) => {
      const message = history[index];
      if (message === logged.message) return false;
      if (!message || !isJsonEqual(message, logged.message)) return true;
      logged.message = message; // A copy that the log or the host made.
      return false;
    });
    return difference < 0 ? this.#messages.length : difference;
  }

  /** Whether the path has messages after the first ones. */
  hasMoreThan(count: number): boolean {
    return this.#messages.length > count;
  }

  /** Moves the leaf to the last of the first messages, so that the path has only these. */
  async branch(count: number): Promise<void> {
    const kept = this.#messages.slice(0, count);
    const last = kept.findLast(({ entryId }) => entryId !== null);
    this.#session.moveLeaf(last?.entryId ?? null);
    const path = await this.#session.path();
    this.#messages = kept;
    this.#settings = new Map(path.map((entry) => [entry.type, entry]));
    this.#checkedEntries = this.#session.outline.length;
  }

  /** Records the messages of a history after those of the path. */
  appendRest(history: readonly AgentMessage[]): void {
    for (const message of history.slice(this.#messages.length)) this.appendMessage(message);
  }

  /** Records the messages after those of the path, unless they replace some: that waits for the next run. */
  appendBetweenRuns({ isRunning, messages }: Pick<AgentState, "isRunning" | "messages">): void {
    if (isRunning || this.#isMoved || this.hasMoreThan(this.countCommon(messages))) return;
    for (const message of messages.slice(this.#messages.length)) {
      this.appendMessage(message, { isBetweenRuns: true });
    }
  }

  /** Records a message; returns the id of its entry. */
  appendMessage(message: AgentMessage, place?: Pick<MessageEntry, "isBetweenRuns">): string {
    const key = getMessageKey(message);
    const isCopy = this.#recordedKeys.has(key);
    this.#recordedKeys.add(key);
    const marks = { ...(isCopy && { isCopy }), ...place };
    const { id } = this.#session.append({ type: "message", message, ...marks });
    this.#messages.push({ message, entryId: id });
    return id;
  }

  /** Records a setting if it has changed; a missing one is compared to `initial`. */
  recordSetting<Entry extends SettingEntry>(entry: Entry, initial?: Entry): void {
    const recorded = this.#settings.get(entry.type) ?? initial;
    if (recorded && hasSameMembers(recorded, entry)) return;
    this.#settings.set(entry.type, entry);
    this.#session.append(entry);
  }

  get #isMoved(): boolean {
    const added = this.#session.outline.slice(this.#checkedEntries);
    return added.some(({ type }) => type === "leaf_moved");
  }
}

/** Whether an entry has all members of another one. */
function hasSameMembers(entry: SessionEntryBody, wanted: SessionEntryBody): boolean {
  return Object.entries(wanted).every(([name, value]) =>
    isJsonEqual((entry as unknown as Record<string, unknown>)[name], value)
  );
}
