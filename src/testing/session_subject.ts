/**
 * The store under test, and values for its tests.
 *
 * @module
 */

import { SessionError } from "../core/errors/errors.ts";
import { isJsonEqual } from "../core/json/json_equal.ts";
import type { ContentBlock } from "../core/messages/content.ts";
import type { AgentMessage, UserMessage } from "../core/messages/message.ts";
import type { CreateSessionOptions, Session, SessionStore } from "../core/sessions/session.ts";
import type { SessionEntry, SessionEntryBody } from "../core/sessions/session_entry.ts";
import { assistantMessage, text, toolCall, toolResultMessage } from "./messages.ts";

/** The store for one test. */
export interface SessionStoreFixture {
  /** An empty store. */
  readonly store: SessionStore;
  /** Returns another store over the same sessions, as after a restart. Default: the same store. */
  readonly reopen?: (() => SessionStore | Promise<SessionStore>) | undefined;
  /** Makes the entry at a position of a session unreadable, as a failing disk does. Default: not tested. */
  readonly damage?: ((sessionId: string, position: number) => void | Promise<void>) | undefined;
  /** Makes the lease of a session's writer end, as if its process hung. Default: not tested. */
  readonly endLease?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Cleans up after the test. */
  readonly dispose?: (() => void | Promise<void>) | undefined;
}

/** The store of one test, before and after a restart. */
export class StoreSubject {
  readonly store: SessionStore;
  readonly damage: SessionStoreFixture["damage"];
  readonly endLease: SessionStoreFixture["endLease"];
  readonly #fixture: SessionStoreFixture;

  constructor(fixture: SessionStoreFixture) {
    this.store = fixture.store;
    this.damage = fixture.damage;
    this.endLease = fixture.endLease;
    this.#fixture = fixture;
  }

  /** Returns the store after a restart. */
  async reopen(): Promise<SessionStore> {
    return await this.#fixture.reopen?.() ?? this.store;
  }

  /** Writes and closes a session; returns its entries. */
  async writeSession(id: string, ...bodies: readonly SessionEntryBody[]): Promise<SessionEntry[]> {
    const created = this.store.create({ id });
    return await withSession(created, (session) => bodies.map((body) => session.append(body)));
  }

  /** Opens a session for reading after a restart, and closes it after use. */
  async readSession(id: string, use: (session: Session) => unknown): Promise<void> {
    await withSession((await this.reopen()).open(id, { access: "read" }), use);
  }
}

/** Closes a session after use; `await using` requires Node 24. */
export async function withSession<Result>(
  opened: Promise<Session>,
  use: (session: Session) => Result | Promise<Result>,
): Promise<Result> {
  const session = await opened;
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

/** Creates a session with one message. */
export async function createSession(
  store: SessionStore,
  options: CreateSessionOptions,
): Promise<void> {
  await withSession(store.create(options), (session) => session.append(createMessageEntry("word")));
}

/** Requests pages until one has no cursor. */
export async function collectPages<Page extends { readonly cursor?: string }>(
  request: (options: { readonly cursor?: string }) => Promise<Page>,
): Promise<Page[]> {
  const pages = [await request({})];
  for (let cursor = pages[0]?.cursor; cursor !== undefined; cursor = pages.at(-1)?.cursor) {
    pages.push(await request({ cursor }));
  }
  return pages;
}

/** Ids of users, addresses, paths and names that a file system reserves. */
export const UNUSUAL_IDS: readonly string[] = [
  "auth0|123",
  "amy@example.com",
  "../up/..",
  "a/b\\c",
  ".hidden",
  "-dash",
  "end.",
  "nul",
  "100%41",
  "né \u{1F600}",
  "'; DROP TABLE sessions; --",
  "x".repeat(200),
  "\u00e9".repeat(200),
  `${"\u00e9".repeat(199)}e`,
];

/** Entries of untyped code that a store refuses. */
export const INVALID_ENTRIES: readonly unknown[] = [
  { type: "title", title: NaN },
  { type: "label", label: "a" },
  { type: "of_the_future" },
  { type: "message", message: { role: "user", content: "text", timestamp: 1 } },
  { type: "message", message: { role: "user", content: [{ type: "text" }], timestamp: 1 } },
  { type: "plan_created", plan: "plan", steps: [1] },
];

export const SAMPLE_ENTRIES: readonly SessionEntryBody[] = [
  { type: "model_changed", model: { provider: "p", modelId: "m", thinkingLevel: "high" } },
  { type: "tools_changed", names: ["bash"] },
  createMessageEntry("hello"),
  {
    type: "message",
    message: assistantMessage([toolCall("bash", { command: "ls" }, { id: "c" })]),
  },
  {
    type: "approval",
    toolCallId: "c",
    name: "bash",
    decision: { type: "approved", scope: "tool" },
  },
  {
    type: "tool_started",
    messageId: null,
    toolCallId: "c",
    name: "bash",
    arguments: { command: "ls" },
    sideEffect: "once",
    idempotencyKey: "run:c",
  },
  createFinishedEntry("c", [text("a.ts")]),
  {
    type: "message",
    message: toolResultMessage({ id: "c", name: "bash" }, "a.ts", { details: { exit: 0 } }),
  },
  {
    type: "message",
    message: { role: "custom", type: "note", data: { x: [1, null] }, timestamp: 1 },
  },
  {
    type: "queue_changed",
    queued: { steering: [], followUp: [{ id: "q", message: createUserMessage("later") }] },
  },
  {
    type: "compaction",
    firstDroppedId: null,
    lastDroppedId: null,
    droppedCount: 2,
    tokensBefore: 100,
    tokensAfter: 50,
    summary: "before",
  },
  { type: "sub_agent_spawned", subAgentId: "s", prompt: "look" },
  { type: "sub_agent_result", subAgentId: "s", result: "seen", isError: false },
  { type: "plan_created", plan: "# Plan", steps: ["one"] },
  { type: "plan_step", step: 0, state: "complete" },
  { type: "plan_mode", active: true },
  { type: "approval_mode", mode: "smart" },
  { type: "label", targetId: "x", label: "here" },
  createTitleEntry("A title"),
  { type: "run_ended", stopReason: "stop" },
  { type: "custom", name: "mine", data: { any: "thing" } },
];

/** Creates a message of a user. */
function createUserMessage(content: string): UserMessage {
  return { role: "user", content: [text(content)], timestamp: 1 } as const;
}

/** Creates an entry with a message of a user. */
export function createMessageEntry(content: string): SessionEntryBody {
  return toMessageEntry(createUserMessage(content));
}

/** Creates an entry with a message. */
export function toMessageEntry(message: AgentMessage): SessionEntryBody {
  return { type: "message", message };
}

/** Creates an entry with a title. */
export function createTitleEntry(title: string): SessionEntryBody {
  return { type: "title", title };
}

/** Creates an entry of the tool journal. */
export function createFinishedEntry(
  toolCallId: string,
  content: readonly ContentBlock[],
): SessionEntryBody {
  const call = { messageId: null, toolCallId, name: "bash" };
  return { type: "tool_finished", ...call, result: { content }, isError: false };
}

/** Returns the texts of the users' messages. */
export function extractTexts(entries: readonly SessionEntry[]): string[] {
  return entries.flatMap((entry) => {
    if (entry.type !== "message" || entry.message.role !== "user") return [];
    return entry.message.content.map((block) => block.type === "text" ? block.text : block.type);
  });
}

/** Checks that an operation fails with a `SessionError`. */
export async function expectFailure(
  reason: SessionError["reason"],
  operation: () => unknown,
): Promise<void> {
  try {
    await operation();
  } catch (error) {
    if (error instanceof SessionError) return expectEqual(error.reason, reason, "reason");
    throw error;
  }
  throw new Error(`Expected a SessionError with reason ${reason}, got none`);
}

/** Checks that values are equal as JSON. */
export function expectEqual(actual: unknown, expected: unknown, name: string): void {
  if (isJsonEqual(sortKeys(actual), sortKeys(expected))) return;
  throw new Error(`${name}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

/** Sorts the members of objects by name; the contract leaves their order open. */
function sortKeys(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (_key, member) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => a < b ? -1 : 1));
  });
}

/** Writes to a session, so that it is listed first. */
export async function rewrite(store: SessionStore, id: string): Promise<void> {
  await withSession(store.open(id), (session) => {
    session.append(createTitleEntry("Moved"));
  });
}

/** Waits until entries have later timestamps than all before, in milliseconds. */
export async function waitForClock(): Promise<void> {
  const time = Date.now();
  while (Date.now() <= time) await new Promise((resolve) => setTimeout(resolve, 1));
}
