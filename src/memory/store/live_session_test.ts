import { assertEquals } from "@std/assert";
import { extractText } from "../../core/content.ts";
import { createDeferred } from "../../core/deferred.ts";
import { userMessage } from "../../core/message.ts";
import type { EncodedEntry } from "./entry_encoder.ts";
import type { AppendResult, EntryLog } from "./entry_log.ts";
import { LiveSession } from "./live_session.ts";
import { SessionTree } from "./session_tree.ts";

/** A log whose writes take as long as a test wants. */
class SlowLog implements EntryLog {
  readonly written: string[] = [];
  /** Ends the write that is in progress. */
  finish: () => void = () => {};

  async append(entries: readonly EncodedEntry[]): Promise<AppendResult> {
    const { promise, resolve } = createDeferred<void>();
    this.finish = resolve;
    await promise;
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

  read(): Promise<readonly undefined[]> {
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

Deno.test("LiveSession: an entry that is appended when a write ends is written without a flush", async () => {
  for (let microtasks = 0; microtasks < 12; microtasks++) {
    const log = new SlowLog();
    const header = {
      type: "session",
      id: "s",
      version: 1,
      timestamp: 0,
      cwd: "/",
    } as unknown as LiveSession["header"];
    let ids = 0;
    const session = new LiveSession({
      header,
      access: "write",
      tree: new SessionTree(),
      log,
      now: () => 0,
      newId: () => `entry ${ids++}`,
    });
    const append = (text: string) =>
      session.append({ type: "message", message: userMessage(text, 0) });
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
