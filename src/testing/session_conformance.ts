/**
 * The contract that every session store keeps, as tests.
 *
 * @module
 */

import { SessionError } from "../core/errors.ts";
import type { Session, SessionStore } from "../core/session.ts";
import type { SessionEntry, SessionEntryBody } from "../core/session_entry.ts";
import { assistantMessage, text, toolCall, toolResultMessage } from "./messages.ts";
import { isSame } from "./same.ts";
import type { RegisterTest } from "./stream_fixture.ts";

/** A store that is tested, and how its tests end. */
export interface SessionStoreFixture {
  /** An empty store. */
  readonly store: SessionStore;
  /** Another store over the same sessions, as after a restart. Default: the same store. */
  readonly reopened?: () => SessionStore | Promise<SessionStore>;
  /** Cleans up after one test. */
  readonly dispose?: () => void | Promise<void>;
}

/** Makes a fresh store for one test. */
export type MakeSessionStore = () =>
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
export function testSessionStore(test: RegisterTest, make: MakeSessionStore): void {
  const register = (name: string, act: (subject: Subject) => Promise<void>) =>
    test(`a session store ${name}`, async () => {
      const made = await make();
      const fixture = "store" in made ? made : { store: made };
      try {
        await act(new Subject(fixture));
      } finally {
        await fixture.dispose?.();
      }
    });
  for (const [name, act] of Object.entries(CONTRACT)) register(name, act);
}

/** The store of one test, as it is now and after a restart. */
class Subject {
  readonly store: SessionStore;
  readonly #fixture: SessionStoreFixture;

  constructor(fixture: SessionStoreFixture) {
    this.store = fixture.store;
    this.#fixture = fixture;
  }

  /** The store after a restart. */
  async restarted(): Promise<SessionStore> {
    return await this.#fixture.reopened?.() ?? this.store;
  }

  /** Writes a closed session; gives its entries. */
  async write(id: string, ...bodies: readonly SessionEntryBody[]): Promise<SessionEntry[]> {
    await using session = await this.store.create({ id });
    return bodies.map((body) => session.append(body));
  }
}

const CONTRACT: Readonly<Record<string, (subject: Subject) => Promise<void>>> = {
  async "gives back every kind of entry as it was appended"(subject) {
    const appended = await subject.write("all", ...ONE_OF_EACH);
    await using session = await (await subject.restarted()).open("all", { access: "read" });
    expectSame(await session.path(), appended, "path");
    expectSame(await collect(session), appended, "entries");
    expectSame(session.damage, [], "damage");
    expectSame(await session.entry(appended[3]?.id ?? ""), appended[3], "entry");
    expectSame(await session.entry("nowhere"), undefined, "entry that is not there");
  },

  async "chains entries, and tells the chain without reading them"(subject) {
    const [first, second, third] = await subject.write("chain", said("a"), said("b"), said("c"));
    await using session = await (await subject.restarted()).open("chain", { access: "read" });
    const chain = [first, second, third].map((entry) => entry?.parentId);
    expectSame(chain, [null, first?.id, second?.id], "parents");
    expectSame(session.leafId, third?.id, "leaf");
    expectSame(
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
    const [root, left] = [session.append(said("root")), session.append(said("left"))];
    session.moveLeaf(root.id);
    const right = session.append(said("right"));
    session.moveLeaf(left.id);
    await session.close();

    await using again = await (await subject.restarted()).open("tree");
    expectSame(textsOf(await again.path()), ["root", "left"], "path after the move");
    expectSame(textsOf(await again.path({ leaf: right.id })), ["root", "right"], "other path");
    again.moveLeaf(null);
    again.append(said("anew"));
    expectSame(textsOf(await again.path()), ["anew"], "path from nothing");
    expectSame(await again.path({ leaf: null }), [], "path to nothing");
  },

  async "gives parts of a path"(subject) {
    const entries = await subject.write("parts", said("a"), titled("b"), said("c"), said("d"));
    await using session = await subject.store.open("parts", { access: "read" });
    expectSame(await session.path({ last: 2 }), entries.slice(2), "last two");
    expectSame(await session.path({ last: 0 }), [], "last none");
    expectSame(await session.path({ types: ["title"] }), entries.slice(1, 2), "titles");
    const after = (entries[0]?.timestamp ?? 0) + 1e9;
    expectSame(await session.path({ after }), [], "later ones");
  },

  async "keeps what was appended all at once, in order"(subject) {
    const bodies = Array.from({ length: 500 }, (_, index) => said(`message ${index}`));
    const appended = await subject.write("many", ...bodies);
    await using session = await (await subject.restarted()).open("many", { access: "read" });
    expectSame(await session.path(), appended, "path");
    expectSame(new Set(appended.map(({ id }) => id)).size, 500, "number of ids");
  },

  async "goes on where a session stopped"(subject) {
    await subject.write("long", said("a"));
    for (const word of ["b", "c"]) {
      await using session = await (await subject.restarted()).open("long");
      session.append(said(word));
    }
    await using session = await subject.store.open("long", { access: "read" });
    expectSame(textsOf(await session.path()), ["a", "b", "c"], "path");
  },

  async "keeps odd text and odd data"(subject) {
    const odd = 'line\nend \u2028 \u{1F600} \ud800 \0 \u001b[31m "quoted" \\';
    const circle: Record<string, unknown> = { big: 10n };
    circle["self"] = circle;
    await subject.write("odd", said(odd), { type: "custom", name: "odd", data: circle });
    await using session = await (await subject.restarted()).open("odd", { access: "read" });
    expectSame(textsOf(await session.path({ types: ["message"] })), [odd], "text");
    expectSame((await session.path()).length, 2, "number of entries");
  },

  async "has one writer, and any number of readers"(subject) {
    const writer = await subject.store.create({ id: "one" });
    writer.append(said("a"));
    await writer.flush();
    const other = await subject.restarted();
    await expectFailure("locked", () => other.open("one"));
    await expectFailure("locked", () => subject.store.open("one"));
    await expectFailure("locked", () => other.delete("one"));
    await using reader = await other.open("one", { access: "read" });
    expectSame(textsOf(await reader.path()), ["a"], "what the reader sees");
    await expectFailure("read_only", () => reader.append(said("b")));
    await writer.close();
    await using next = await other.open("one");
    next.append(said("b"));
  },

  async "refuses what cannot be"(subject) {
    const { store } = subject;
    await expectFailure("not_found", () => store.open("nothing"));
    await expectFailure("not_found", () => store.delete("nothing"));
    await subject.write("there", said("a"));
    await expectFailure("already_exists", () => store.create({ id: "there" }));
    const session = await store.open("there");
    await expectFailure("unknown_entry", () => session.moveLeaf("nowhere"));
    await expectFailure("unknown_entry", () => session.path({ leaf: "nowhere" }));
    await session.close();
    await session.close();
    await expectFailure("closed", () => session.append(said("b")));
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
    await subject.write("empty");
    expectSame(await subject.store.list(), [], "list");
    await subject.write("empty", said("a"));
    expectSame((await subject.store.list()).length, 1, "length of the list");
  },

  async "gives sessions names that do not collide"(subject) {
    const sessions = await Promise.all(
      Array.from({ length: 20 }, () => subject.store.create()),
    );
    expectSame(new Set(sessions.map(({ id }) => id)).size, 20, "number of names");
    for (const session of sessions) await session.close();
  },

  async "begins with given entries, as they are"(subject) {
    const entries = await subject.write("old", said("a"), said("b"));
    const parent = { sessionId: "old", entryId: entries[1]?.id ?? null };
    await using session = await subject.store.create({ id: "new", cwd: "/work", parent, entries });
    session.append(said("c"));
    await session.close();
    await using again = await (await subject.restarted()).open("new", { access: "read" });
    expectSame((await again.path()).slice(0, 2), entries, "entries");
    expectSame(textsOf(await again.path()), ["a", "b", "c"], "path");
    const { cwd, parent: forkedFrom } = again.header;
    expectSame({ cwd, parent: forkedFrom }, { cwd: "/work", parent }, "header");
  },

  async "lists what it keeps"(subject) {
    const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };
    const cost = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 };
    const reply = assistantMessage("answer", { usage, cost });
    const message = { type: "message", message: reply } as const;
    const entries = await subject.write("listed", said("question"), message, message, titled("T"));
    const [summary, ...others] = await (await subject.restarted()).list();
    expectSame(others, [], "other sessions");
    expectSame(
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
    expectSame(await subject.store.list({ cwd: "/elsewhere" }), [], "list of another folder");
    expectSame((await subject.store.list({ limit: 0 })).length, 0, "list of none");
  },

  async "finds words where they begin"(subject) {
    const call = toolCall("bash", { command: "grep Needle src" }, { id: "call_1" });
    const result = { content: [text("src/a.ts: the needle is here")] };
    await subject.write(
      "hay",
      said("Where is the NEEDLE?"),
      { type: "message", message: assistantMessage([call]) },
      finished("call_1", result.content),
      { type: "message", message: toolResultMessage(call, result.content) },
      said("Pinneedles do not count, needless to say"),
    );
    const store = await subject.restarted();
    const typesOf = async (query: string, options?: Parameters<SessionStore["search"]>[1]) =>
      (await store.search(query, options)).map(({ type }) => type);
    expectSame(
      await typesOf("needle"),
      ["message", "message", "tool_finished", "message"],
      "needle",
    );
    expectSame(await typesOf("the needle"), ["message", "tool_finished"], "the needle");
    expectSame(await typesOf("eedle"), [], "a part of a word");
    expectSame(await typesOf("?!"), [], "no word");
    expectSame(await typesOf("needle", { limit: 1 }), ["message"], "one hit");
    expectSame(await typesOf("needle", { types: ["tool_finished"] }), ["tool_finished"], "a type");
    expectSame(await typesOf("needle", { before: 0 }), [], "too late");
    expectSame(await typesOf("needle", { after: 0, sessionId: "hay" }), [
      "message",
      "message",
      "tool_finished",
      "message",
    ], "one session");
    const [hit] = await store.search("needle", { limit: 1 });
    expectSame(hit?.snippet, "Where is the NEEDLE?", "snippet");
    await expectFailure("not_found", () => store.search("needle", { sessionId: "nothing" }));
  },

  async "deletes for good"(subject) {
    await subject.write("gone", said("secret"));
    await subject.store.delete("gone");
    const store = await subject.restarted();
    expectSame(await store.list(), [], "list");
    expectSame(await store.search("secret"), [], "hits");
    await expectFailure("not_found", () => store.open("gone"));
    await subject.write("gone", said("anew"));
    await using session = await store.open("gone", { access: "read" });
    expectSame(textsOf(await session.path()), ["anew"], "path");
  },
};

const ONE_OF_EACH: readonly SessionEntryBody[] = [
  { type: "model_changed", model: { provider: "p", modelId: "m", thinkingLevel: "high" } },
  { type: "tools_changed", names: ["bash"] },
  said("hello"),
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
  finished("c", [text("a.ts")]),
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
    queued: { steering: [], followUp: [{ id: "q", message: user("later") }] },
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
  titled("A title"),
  { type: "run_ended", stopReason: "stop" },
  { type: "custom", name: "mine", data: { any: "thing" } },
];

function user(content: string) {
  return { role: "user", content: [text(content)], timestamp: 1 } as const;
}

function said(content: string): SessionEntryBody {
  return { type: "message", message: user(content) };
}

function titled(title: string): SessionEntryBody {
  return { type: "title", title };
}

function finished(
  toolCallId: string,
  content: readonly ReturnType<typeof text>[],
): SessionEntryBody {
  const call = { messageId: null, toolCallId, name: "bash" };
  return { type: "tool_finished", ...call, result: { content }, isError: false };
}

function textsOf(entries: readonly SessionEntry[]): string[] {
  return entries.flatMap((entry) => {
    if (entry.type !== "message" || entry.message.role !== "user") return [];
    return entry.message.content.map((block) => block.type === "text" ? block.text : block.type);
  });
}

async function collect(session: Session): Promise<SessionEntry[]> {
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
    if (error instanceof SessionError) return expectSame(error.reason, reason, "reason");
    throw error;
  }
  throw new Error(`Expected a failure because of ${reason}, got none`);
}

function expectSame(actual: unknown, expected: unknown, what: string): void {
  if (isSame(sorted(actual), sorted(expected))) return;
  throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

/** The same JSON with members in the order of their names, which is no part of the contract. */
function sorted(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (_key, member) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => a < b ? -1 : 1));
  });
}
