/**
 * The contract that every session store keeps, as tests.
 *
 * @module
 */

import { SessionError } from "../core/errors.ts";
import type { Session, SessionStore } from "../core/session.ts";
import type { SessionEntry, SessionEntryBody } from "../core/session_entry.ts";
import { assistantMessage, text, toolCall, toolResultMessage } from "./messages.ts";
import { isJsonEqual } from "./json_equal.ts";
import type { RegisterTest } from "./stream_fixture.ts";

/** A store that is tested, and how its tests end. */
export interface SessionStoreFixture {
  /** An empty store. */
  readonly store: SessionStore;
  /** Another store over the same sessions, as after a restart. Default: the same store. */
  readonly reopen?: () => SessionStore | Promise<SessionStore>;
  /** Cleans up after one test. */
  readonly dispose?: () => void | Promise<void>;
}

/** Makes a fresh store for one test. */
export type SessionStoreFactory = () =>
  | SessionStore
  | SessionStoreFixture
  | Promise<SessionStore | SessionStoreFixture>;

/**
 * Registers the tests that every session store must pass: nothing appended is lost, changed or reordered, the
 * tree and its leaf survive a restart, there is one writer, and failures are typed.
 *
 * @example
 * ```ts ignore
 * import { testSessionStore } from "@swink/agent/testing";
 * import { InMemorySessionStore } from "@swink/agent/memory";
 *
 * testSessionStore(Deno.test, () => new InMemorySessionStore());
 * ```
 */
export function testSessionStore(test: RegisterTest, make: SessionStoreFactory): void {
  const register = (name: string, act: (subject: StoreSubject) => Promise<void>) =>
    test(`a session store ${name}`, async () => {
      const made = await make();
      const fixture = "store" in made ? made : { store: made };
      try {
        await act(new StoreSubject(fixture));
      } finally {
        await fixture.dispose?.();
      }
    });
  for (const [name, act] of Object.entries(CONTRACT)) register(name, act);
}

/** The store of one test, as it is now and after a restart. */
class StoreSubject {
  readonly store: SessionStore;
  readonly #fixture: SessionStoreFixture;

  constructor(fixture: SessionStoreFixture) {
    this.store = fixture.store;
    this.#fixture = fixture;
  }

  /** The store after a restart. */
  async reopen(): Promise<SessionStore> {
    return await this.#fixture.reopen?.() ?? this.store;
  }

  /** Writes a closed session; gives its entries. */
  async writeSession(id: string, ...bodies: readonly SessionEntryBody[]): Promise<SessionEntry[]> {
    await using session = await this.store.create({ id });
    return bodies.map((body) => session.append(body));
  }
}

const CONTRACT: Readonly<Record<string, (subject: StoreSubject) => Promise<void>>> = {
  async "gives back every kind of entry as it was appended"(subject) {
    const appended = await subject.writeSession("all", ...SAMPLE_ENTRIES);
    await using session = await (await subject.reopen()).open("all", { access: "read" });
    expectEqual(await session.path(), appended, "path");
    expectEqual(await collectEntries(session), appended, "entries");
    expectEqual(session.damage, [], "damage");
    expectEqual(await session.entry(appended[3]?.id ?? ""), appended[3], "entry");
    expectEqual(await session.entry("nowhere"), undefined, "entry that is not there");
  },

  async "chains entries, and tells the chain without reading them"(subject) {
    const [first, second, third] = await subject.writeSession(
      "chain",
      createMessageEntry("a"),
      createMessageEntry("b"),
      createMessageEntry("c"),
    );
    await using session = await (await subject.reopen()).open("chain", { access: "read" });
    const chain = [first, second, third].map((entry) => entry?.parentId);
    expectEqual(chain, [null, first?.id, second?.id], "parents");
    expectEqual(session.leafId, third?.id, "leaf");
    expectEqual(
      session.outline,
      [first, second, third].map((entry) => ({
        type: "message",
        id: entry?.id,
        parentId: entry?.parentId,
        timestamp: entry?.timestamp,
      })),
      "outline",
    );
  },

  async "keeps the leaf where it was moved, and every branch"(subject) {
    const session = await subject.store.create({ id: "tree" });
    const [root, left] = [
      session.append(createMessageEntry("root")),
      session.append(createMessageEntry("left")),
    ];
    session.moveLeaf(root.id);
    const right = session.append(createMessageEntry("right"));
    session.moveLeaf(left.id);
    await session.close();

    await using again = await (await subject.reopen()).open("tree");
    expectEqual(extractTexts(await again.path()), ["root", "left"], "path after the move");
    expectEqual(
      extractTexts(await again.path({ leaf: right.id })),
      ["root", "right"],
      "other path",
    );
    again.moveLeaf(null);
    again.append(createMessageEntry("anew"));
    expectEqual(extractTexts(await again.path()), ["anew"], "path from nothing");
    expectEqual(await again.path({ leaf: null }), [], "path to nothing");
  },

  async "gives parts of a path"(subject) {
    const entries = await subject.writeSession(
      "parts",
      createMessageEntry("a"),
      createTitleEntry("b"),
      createMessageEntry("c"),
      createMessageEntry("d"),
    );
    await using session = await subject.store.open("parts", { access: "read" });
    expectEqual(await session.path({ last: 2 }), entries.slice(2), "last two");
    expectEqual(await session.path({ last: 0 }), [], "last none");
    expectEqual(await session.path({ types: ["title"] }), entries.slice(1, 2), "titles");
    const after = (entries[0]?.timestamp ?? 0) + 1e9;
    expectEqual(await session.path({ after }), [], "later ones");
  },

  async "keeps what was appended all at once, in order"(subject) {
    const bodies = Array.from(
      { length: 500 },
      (_, index) => createMessageEntry(`message ${index}`),
    );
    const appended = await subject.writeSession("many", ...bodies);
    await using session = await (await subject.reopen()).open("many", { access: "read" });
    expectEqual(await session.path(), appended, "path");
    expectEqual(new Set(appended.map(({ id }) => id)).size, 500, "number of ids");
  },

  async "goes on where a session stopped"(subject) {
    await subject.writeSession("long", createMessageEntry("a"));
    for (const word of ["b", "c"]) {
      await using session = await (await subject.reopen()).open("long");
      session.append(createMessageEntry(word));
    }
    await using session = await subject.store.open("long", { access: "read" });
    expectEqual(extractTexts(await session.path()), ["a", "b", "c"], "path");
  },

  async "keeps odd text and odd data"(subject) {
    const odd = 'line\nend \u2028 \u{1F600} \ud800 \0 \u001b[31m "quoted" \\';
    const circle: Record<string, unknown> = { big: 10n };
    circle["self"] = circle;
    await subject.writeSession("odd", createMessageEntry(odd), {
      type: "custom",
      name: "odd",
      data: circle,
    });
    await using session = await (await subject.reopen()).open("odd", { access: "read" });
    expectEqual(extractTexts(await session.path({ types: ["message"] })), [odd], "text");
    expectEqual((await session.path()).length, 2, "number of entries");
  },

  async "has one writer, and any number of readers"(subject) {
    const writer = await subject.store.create({ id: "one" });
    writer.append(createMessageEntry("a"));
    await writer.flush();
    const other = await subject.reopen();
    await expectFailure("locked", () => other.open("one"));
    await expectFailure("locked", () => subject.store.open("one"));
    await expectFailure("locked", () => other.delete("one"));
    await using reader = await other.open("one", { access: "read" });
    expectEqual(extractTexts(await reader.path()), ["a"], "what the reader sees");
    await expectFailure("read_only", () => reader.append(createMessageEntry("b")));
    await writer.close();
    await using next = await other.open("one");
    next.append(createMessageEntry("b"));
  },

  async "refuses what cannot be"(subject) {
    const { store } = subject;
    await expectFailure("not_found", () => store.open("nothing"));
    await expectFailure("not_found", () => store.delete("nothing"));
    await subject.writeSession("there", createMessageEntry("a"));
    await expectFailure("already_exists", () => store.create({ id: "there" }));
    const session = await store.open("there");
    await expectFailure("unknown_entry", () => session.moveLeaf("nowhere"));
    await expectFailure("unknown_entry", () => session.path({ leaf: "nowhere" }));
    await session.close();
    await session.close();
    await expectFailure("closed", () => session.append(createMessageEntry("b")));
  },

  async "refuses names that lead elsewhere"(subject) {
    for (
      const id of ["", "a/b", "a\\b", "..", "a..b", ".a", "a:b", "a\nb", "nul", "a".repeat(200)]
    ) {
      await expectFailure("bad_id", () => subject.store.create({ id }));
      await expectFailure("bad_id", () => subject.store.open(id));
      await expectFailure("bad_id", () => subject.store.delete(id));
    }
  },

  async "keeps nothing of a session without entries"(subject) {
    await subject.writeSession("empty");
    expectEqual(await subject.store.list(), [], "list");
    await subject.writeSession("empty", createMessageEntry("a"));
    expectEqual((await subject.store.list()).length, 1, "length of the list");
  },

  async "gives sessions names that do not collide"(subject) {
    const sessions = await Promise.all(
      Array.from({ length: 20 }, () => subject.store.create()),
    );
    expectEqual(new Set(sessions.map(({ id }) => id)).size, 20, "number of names");
    for (const session of sessions) await session.close();
  },

  async "begins with given entries, as they are"(subject) {
    const entries = await subject.writeSession(
      "old",
      createMessageEntry("a"),
      createMessageEntry("b"),
    );
    const parent = { sessionId: "old", entryId: entries[1]?.id ?? null };
    await using session = await subject.store.create({ id: "new", cwd: "/work", parent, entries });
    session.append(createMessageEntry("c"));
    await session.close();
    await using again = await (await subject.reopen()).open("new", { access: "read" });
    expectEqual((await again.path()).slice(0, 2), entries, "entries");
    expectEqual(extractTexts(await again.path()), ["a", "b", "c"], "path");
    const { cwd, parent: forkedFrom } = again.header;
    expectEqual({ cwd, parent: forkedFrom }, { cwd: "/work", parent }, "header");
  },

  async "lists what it keeps"(subject) {
    const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };
    const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
    const reply = assistantMessage("answer", { usage, cost });
    const message = { type: "message", message: reply } as const;
    const entries = await subject.writeSession(
      "listed",
      createMessageEntry("question"),
      message,
      message,
      createTitleEntry("T"),
    );
    const [summary, ...others] = await (await subject.reopen()).list();
    expectEqual(others, [], "other sessions");
    expectEqual(
      { ...summary, created: 0, bytes: 0 },
      {
        id: "listed",
        created: 0,
        updated: entries.at(-1)?.timestamp,
        entries: 4,
        messages: 3,
        leafId: entries.at(-1)?.id,
        usage: { input: 20, output: 10, cacheRead: 0, cacheWrite: 0, total: 30 },
        cost: { input: 2, output: 4, cacheRead: 0, cacheWrite: 0, total: 6 },
        bytes: 0,
        firstPrompt: "question",
        title: "T",
      },
      "summary",
    );
    expectEqual(await subject.store.list({ cwd: "/elsewhere" }), [], "list of another folder");
    expectEqual((await subject.store.list({ limit: 0 })).length, 0, "list of none");
  },

  async "finds words where they begin"(subject) {
    const call = toolCall("bash", { command: "grep Needle src" }, { id: "call_1" });
    const result = { content: [text("src/a.ts: the needle is here")] };
    await subject.writeSession(
      "hay",
      createMessageEntry("Where is the NEEDLE?"),
      { type: "message", message: assistantMessage([call]) },
      createFinishedEntry("call_1", result.content),
      { type: "message", message: toolResultMessage(call, result.content) },
      createMessageEntry("Pinneedles do not count, needless to say"),
    );
    const store = await subject.reopen();
    const typesOf = async (query: string, options?: Parameters<SessionStore["search"]>[1]) =>
      (await store.search(query, options)).map(({ type }) => type);
    expectEqual(
      await typesOf("needle"),
      ["message", "message", "tool_finished", "message"],
      "needle",
    );
    expectEqual(await typesOf("the needle"), ["message", "tool_finished"], "the needle");
    expectEqual(await typesOf("eedle"), [], "a part of a word");
    expectEqual(await typesOf("?!"), [], "no word");
    expectEqual(await typesOf("needle", { limit: 1 }), ["message"], "one hit");
    expectEqual(await typesOf("needle", { types: ["tool_finished"] }), ["tool_finished"], "a type");
    expectEqual(await typesOf("needle", { before: 0 }), [], "too late");
    expectEqual(await typesOf("needle", { after: 0, sessionId: "hay" }), [
      "message",
      "message",
      "tool_finished",
      "message",
    ], "one session");
    const [hit] = await store.search("needle", { limit: 1 });
    expectEqual(hit?.snippet, "Where is the NEEDLE?", "snippet");
    await expectFailure("not_found", () => store.search("needle", { sessionId: "nothing" }));
  },

  async "deletes for good"(subject) {
    await subject.writeSession("gone", createMessageEntry("secret"));
    await subject.store.delete("gone");
    const store = await subject.reopen();
    expectEqual(await store.list(), [], "list");
    expectEqual(await store.search("secret"), [], "hits");
    await expectFailure("not_found", () => store.open("gone"));
    await subject.writeSession("gone", createMessageEntry("anew"));
    await using session = await store.open("gone", { access: "read" });
    expectEqual(extractTexts(await session.path()), ["anew"], "path");
  },
};

const SAMPLE_ENTRIES: readonly SessionEntryBody[] = [
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

function createUserMessage(content: string) {
  return { role: "user", content: [text(content)], timestamp: 1 } as const;
}

function createMessageEntry(content: string): SessionEntryBody {
  return { type: "message", message: createUserMessage(content) };
}

function createTitleEntry(title: string): SessionEntryBody {
  return { type: "title", title };
}

function createFinishedEntry(
  toolCallId: string,
  content: readonly ReturnType<typeof text>[],
): SessionEntryBody {
  const call = { messageId: null, toolCallId, name: "bash" };
  return { type: "tool_finished", ...call, result: { content }, isError: false };
}

function extractTexts(entries: readonly SessionEntry[]): string[] {
  return entries.flatMap((entry) => {
    if (entry.type !== "message" || entry.message.role !== "user") return [];
    return entry.message.content.map((block) => block.type === "text" ? block.text : block.type);
  });
}

async function collectEntries(session: Session): Promise<SessionEntry[]> {
  const entries: SessionEntry[] = [];
  for await (const entry of session.entries()) entries.push(entry);
  return entries;
}

async function expectFailure(
  reason: SessionError["reason"],
  act: () => unknown,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (error instanceof SessionError) return expectEqual(error.reason, reason, "reason");
    throw error;
  }
  throw new Error(`Expected a failure because of ${reason}, got none`);
}

function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (isJsonEqual(sortKeys(actual), sortKeys(expected))) return;
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

/** The same JSON with members in the order of their names, which is no part of the contract. */
function sortKeys(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (_key, member) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => a < b ? -1 : 1));
  });
}
