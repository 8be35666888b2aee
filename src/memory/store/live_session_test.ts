import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { SessionError } from "../../core/errors/errors.ts";
import { extractText } from "../../core/messages/content.ts";
import { userMessage } from "../../core/messages/message.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import type { EncodedEntry } from "./entry_encoder.ts";
import type { AppendResult, EntryLog } from "./entry_log.ts";
import { LiveSession } from "./live_session.ts";
import { SessionTree } from "./session_tree.ts";

/** A log whose writes take as long as a test wants. */
class SlowLog implements EntryLog {
  readonly written: string[] = [];
  /** Ends the write that is in progress. */
  finish: () => void = () => {};
  /** The error of the write that is in progress. Default: none. */
  error: Error | undefined;

  async append(entries: readonly EncodedEntry[]): Promise<AppendResult> {
    const { promise, resolve } = createDeferred<void>();
    this.finish = resolve;
    await promise;
    const { error } = this;
    this.error = undefined;
    if (error) return { kept: 0, error };
    for (const { entry } of entries) {
      if (entry.type === "message" && "content" in entry.message) {
        this.written.push(extractText(entry.message.content));
      }
    }
    return { kept: entries.length };
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  read(): Promise<readonly (SessionEntry | undefined)[]> {
    return Promise.resolve([]);
  }

  locate(): { readonly offset: number; readonly length: number } {
    return { offset: 0, length: 0 };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const nextTask = () => new Promise((resolve) => setTimeout(resolve));

function createSession(log: SlowLog, tree = new SessionTree()): LiveSession {
  const header = {
    type: "session",
    id: "s",
    version: 1,
    timestamp: 0,
    cwd: "/",
  } as unknown as LiveSession["header"];
  let ids = 0;
  return new LiveSession({
    header,
    access: "write",
    tree,
    log,
    now: () => 0,
    newId: () => `entry ${ids++}`,
  });
}

function appendText(session: LiveSession, text: string): void {
  session.append({ type: "message", message: userMessage(text, 0) });
}

Deno.test("LiveSession: an entry that is appended when a write ends is written without a flush", async () => {
  for (let microtasks = 0; microtasks < 12; microtasks++) {
    const log = new SlowLog();
    const session = createSession(log);
    const append = (text: string) => appendText(session, text);
    append("a");
    await nextTask();
    log.finish();
    for (let count = 0; count < microtasks; count++) await Promise.resolve();
    append("b");
    await nextTask();
    log.finish();
    await nextTask();
    assertEquals(log.written, ["a", "b"], `${microtasks} microtasks later`);
  }
});

Deno.test("LiveSession: every flush that waits for a write rejects when the write fails", async () => {
  const log = new SlowLog();
  const session = createSession(log);
  const flush = () => session.flush().then(() => "stored", ({ message }: Error) => message);
  appendText(session, "a");
  await nextTask();
  appendText(session, "b");
  const flushes = [flush(), flush()];
  log.error = new Error("the disk is full");
  log.finish();
  const message =
    'Cannot write the session "s": the disk is full; 2 of its entries were not stored';
  assertEquals(await Promise.all(flushes), [message, message]);
  assertEquals(await flush(), "stored");
  assertEquals(session.outline, []);
});

Deno.test("LiveSession: a flush rejects when an append has thrown the error of its write", async () => {
  const log = new SlowLog();
  const session = createSession(log);
  appendText(session, "a");
  await nextTask();
  log.error = new Error("the disk is full");
  const flush = session.flush().then(() => "stored", ({ message }: Error) => message);
  log.finish();
  while (session.leafId !== null) await Promise.resolve();
  assertThrows(() => appendText(session, "b"), SessionError, "the disk is full");
  assertEquals(
    await flush,
    'Cannot write the session "s": the disk is full; 1 of its entries was not stored',
  );
});

Deno.test("LiveSession: a path has no entry that was appended after a write failed meanwhile", async () => {
  const stored: SessionEntry = { type: "title", id: "a", parentId: null, timestamp: 0, title: "A" };
  const tree = new SessionTree();
  tree.add(stored);
  const log = new SlowLog();
  const reading = createDeferred<readonly SessionEntry[]>();
  log.read = () => reading.promise;
  const session = createSession(log, tree);
  appendText(session, "lost");
  await nextTask();
  const path = session.path();
  log.error = new Error("the disk is full");
  log.finish();
  await assertRejects(() => session.flush(), SessionError, "the disk is full");
  appendText(session, "kept");
  reading.resolve([stored]);
  assertEquals((await path).map(({ id }) => id), ["a"]);
  assertEquals(session.damage, []);
  log.finish();
});
