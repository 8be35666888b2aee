import { assert, assertEquals, assertMatch } from "@std/assert";
import type { AgentEvent } from "../../core/events/event.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { waitUntil } from "../../../tests/wait_until.ts";
import { userMessage } from "../../core/messages/message.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionActivity } from "../../core/sessions/session_activity.ts";
import { InMemorySessionStore } from "../../memory/mod.ts";
import { ManualClock } from "../../testing/mod.ts";
import type { FeedItem } from "./agent_runner.ts";
import { formatCursor, parseCursor } from "./event_cursor.ts";
import { LiveEvents } from "./live_events.ts";
import { SessionFeed } from "./session_feed.ts";

const RUNNING: SessionActivity = {
  status: "running",
  pendingApprovals: [],
  queued: { steering: [], followUp: [] },
};

const clock = new ManualClock();
const createEvent = (seq: number): AgentEvent => ({ type: "turn_start", turn: seq, seq });

interface FeedSetup {
  readonly store: InMemorySessionStore;
  readonly live: LiveEvents;
  readonly after?: string;
  readonly ending?: AbortSignal;
}

function openFeed({ store, live, after, ending = AbortSignal.abort() }: FeedSetup) {
  return new SessionFeed({
    live,
    clock,
    after,
    ending,
    signal: new AbortController().signal,
    pollMs: Infinity,
    open: () => store.open("s", { access: "read" }),
  }).read();
}

/** Reads all that a feed has now. */
async function readAll(setup: FeedSetup): Promise<FeedItem[]> {
  const items: FeedItem[] = [];
  for await (const batch of openFeed(setup)) items.push(...batch);
  return items;
}

const getTypes = (items: readonly FeedItem[]) => items.map(({ type }) => type);

Deno.test("SessionFeed: an entry is delivered when it is persisted, and not before", async () => {
  const store = new InMemorySessionStore();
  await using session = await store.create({ id: "s" });
  session.append({ type: "title", title: "A" });
  const flushed = createDeferred();
  const live = new LiveEvents("e");
  live.setActive({ session, flush: () => flushed.promise, getActivity: () => RUNNING });
  const feed = openFeed({ store, live });
  let received: string[] | undefined;
  const first = feed.next().then(({ value }) => received = getTypes(value ?? []));
  for (let tick = 0; tick < 100; tick++) await null;
  assertEquals(received, undefined);
  flushed.resolve();
  await first;
  assertEquals(received, ["entry"]);
  await feed.return();
});

Deno.test("SessionFeed: events wait for the entries that precede them, unless those could not be written", async () => {
  const store = new InMemorySessionStore();
  await using session = await store.create({ id: "s" });
  session.append({ type: "title", title: "A" });
  await session.flush();
  const live = new LiveEvents("e");
  const flush = () => Promise.reject(new Error("The disk is full"));
  live.setActive({ session, flush, getActivity: () => RUNNING });
  const after = formatCursor({ position: 0, entryId: "", live: { epoch: "e", seq: 0 } });
  live.push(createEvent(1), 1);
  live.push(createEvent(2), 5);
  assertEquals(getTypes(await readAll({ store, live, after })), [
    "entry",
    "turn_start",
    "turn_start",
  ]);
});

Deno.test("SessionFeed: events of another process are not taken for those of this one", async () => {
  const store = new InMemorySessionStore();
  await using session = await store.create({ id: "s" });
  const { id: entryId } = session.append({ type: "title", title: "A" });
  await session.flush();
  const live = new LiveEvents("new");
  for (let seq = 1; seq <= 5; seq++) live.push(createEvent(seq), 1);
  const read = (epoch: string) => {
    const after = formatCursor({ position: 1, entryId, live: { epoch, seq: 2 } });
    return readAll({ store, live, after });
  };
  assertEquals(getTypes(await read("old")), ["state"]);
  assertEquals(getTypes(await read("new")), ["turn_start", "turn_start", "turn_start", "state"]);
});

Deno.test("SessionFeed: a client that reconnects while it reads the log gets no events from before", async () => {
  const store = new InMemorySessionStore();
  await using session = await store.create({ id: "s" });
  session.append({ type: "title", title: "A" });
  session.append({ type: "title", title: "B" });
  await session.flush();
  const live = new LiveEvents("e");
  for (let seq = 1; seq <= 5; seq++) live.push(createEvent(seq), 2);
  const [first] = await readAll({ store, live });
  assert(first?.id);
  assertEquals(parseCursor(first.id)?.live, undefined);
  assertEquals(getTypes(await readAll({ store, live, after: first.id })), ["entry", "state"]);
});

Deno.test("SessionFeed: a client that misses events gets the state instead, and then goes on", async () => {
  const store = new InMemorySessionStore();
  await using session = await store.create({ id: "s" });
  const { id: entryId } = session.append({ type: "title", title: "A" });
  await session.flush();
  const live = new LiveEvents("e");
  for (let seq = 1; seq <= 5_000; seq++) live.push(createEvent(seq), 1);
  const after = formatCursor({ position: 1, entryId, live: { epoch: "e", seq: 1 } });
  const [state, ...rest] = await readAll({ store, live, after });
  assertEquals([state?.type, rest.length], ["state", 0]);
  live.push(createEvent(5_001), 1);
  const next = await readAll({ store, live, after: state?.id ?? "" });
  assertEquals(next[0]?.data, JSON.stringify(createEvent(5_001)));
});

Deno.test("SessionFeed: opens the session again only when its stamp differs", async () => {
  const store = new InMemorySessionStore();
  await using session = await store.create({ id: "s" });
  const append = async (title: string) => {
    session.append({ type: "title", title });
    await session.flush();
  };
  await append("A");
  const clock = new ManualClock();
  const signal = new AbortController();
  let stamp: string | undefined = "1";
  let opened = 0;
  const feed = new SessionFeed({
    ...{ live: new LiveEvents("e"), clock, after: undefined, signal: signal.signal },
    ...{ ending: new AbortController().signal, pollMs: 10 },
    open: () => {
      opened++;
      return store.open("s", { access: "read" });
    },
    readStamp: () => Promise.resolve(stamp),
  }).read();
  const read = async () => getTypes((await feed.next()).value ?? []);
  assertEquals([await read(), await read()], [["entry"], ["state"]]);
  const next = read();
  const wait = async () => {
    while (clock.sleepers === 0) await new Promise((resolve) => setTimeout(resolve));
  };
  const poll = async () => {
    clock.advance(10);
    await wait();
  };
  await wait();
  await poll();
  const known = opened;
  await append("B");
  for (let count = 0; count < 5; count++) await poll();
  assertEquals(opened, known);
  stamp = "2";
  clock.advance(10);
  assertEquals(await next, ["entry"]);
  const last = read();
  await wait();
  await session.close();
  await store.delete("s");
  // Without a stamp the session is opened, which finds out that it was deleted.
  stamp = undefined;
  clock.advance(10);
  assertEquals(await last, ["end"]);
  assertEquals((await feed.next()).done, true);
});

Deno.test("SessionFeed: a batch of large entries or events has few of them, and none is left out", async () => {
  const store = new InMemorySessionStore();
  await using session = await store.create({ id: "s" });
  const text = "x".repeat(200_000);
  for (let index = 0; index < 40; index++) {
    session.append({ type: "custom", name: "large", data: { index, text } });
  }
  await session.flush();
  const live = new LiveEvents("e");
  live.setActive({ session, flush: () => Promise.resolve(), getActivity: () => RUNNING });
  const position = session.outline.length;
  const entryId = session.outline.at(-1)?.id ?? "";
  for (let seq = 1; seq <= 40; seq++) {
    live.push({ type: "custom", name: "n", data: text, seq }, position);
  }
  const end = formatCursor({ position, entryId, live: { epoch: "e", seq: 0 } });
  for (const [after, type] of [[undefined, "entry"], [end, "custom"]] as const) {
    const sizes: number[] = [];
    for await (const batch of openFeed({ store, live, ...(after !== undefined && { after }) })) {
      sizes.push(batch.filter((item) => item.type === type).length);
    }
    assertEquals(sizes.reduce((sum, size) => sum + size, 0), 40);
    assert(Math.max(...sizes) <= 4, `${sizes}`);
  }
});

Deno.test("SessionFeed: a client gets the queues that another process has changed, also with the same status", async () => {
  const store = new InMemorySessionStore();
  const clock = new ManualClock();
  const queue = async (session: Session, id: string) => {
    const followUp = [{ id, message: userMessage("Later", 1) }];
    session.append({ type: "queue_changed", queued: { steering: [], followUp } });
    await session.close();
  };
  await queue(await store.create({ id: "s" }), "a");
  const stop = new AbortController();
  const { signal } = stop;
  const ending = new AbortController().signal;
  const open = () => store.open("s", { access: "read" });
  const live = new LiveEvents("e");
  const feed = new SessionFeed({ live, clock, signal, ending, pollMs: 1_000, open }).read();
  const readState = async () => {
    for await (const item of readItems(feed)) if (item.type === "state") return item.data;
    return "";
  };
  assertMatch(await readState(), /"idle".*"id":"a"/);
  await queue(await store.open("s"), "b");
  const state = readState();
  await waitUntil(() => clock.sleepers > 0);
  clock.advance(1_000);
  assertMatch(await state, /"idle".*"id":"b"/);
  stop.abort();
});

/** Yields the items of a feed, which stays open. */
async function* readItems(feed: AsyncIterator<readonly FeedItem[]>): AsyncGenerator<FeedItem> {
  while (true) {
    const { done, value } = await feed.next();
    if (done) return;
    yield* value;
  }
}
