import { assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../core/errors/errors.ts";
import { createDeferred, type Deferred } from "../../core/ports/deferred.ts";
import { createHeader } from "../store/jsonl.ts";
import type { AppendableFile, FileInfo } from "./file_system.ts";
import { localFileSystem } from "./local_file_system.ts";
import { LogWriter } from "./log_writer.ts";
import { getSessionPaths } from "./session_paths.ts";

/** A log whose syncs the test ends. */
class SlowLog {
  readonly syncs: Deferred<void>[] = [];
  readonly writer: LogWriter;
  written = 0;
  inode = 1;
  /** Bytes that a sync has found. */
  synced = 0;

  constructor() {
    this.writer = new LogWriter({
      files: {
        ...localFileSystem,
        stat: () => this.#stat(),
        replace: (_path, text) => Promise.resolve(void (this.written = text.length)),
        openToAppend: () => Promise.resolve(this.#open()),
        syncDirectory: () => Promise.resolve(),
      },
      paths: getSessionPaths("/sessions", "a"),
      header: createHeader({ id: "a", created: 0 }),
      state: { type: "missing" },
    });
  }

  async append(text: string): Promise<{ readonly error?: unknown }> {
    await this.writer.open();
    return await this.writer.append([new TextEncoder().encode(`${text}\n`)]);
  }

  #stat(): FileInfo {
    return { size: this.written, modified: 0, inode: this.inode };
  }

  #open(): AppendableFile {
    let isClosed = false;
    return {
      write: ({ length }) => {
        if (isClosed) return Promise.reject(new Error("the file is closed"));
        this.written += length;
        return Promise.resolve(length);
      },
      sync: () => {
        if (isClosed) return Promise.reject(new Error("the file is closed"));
        const sync = createDeferred<void>();
        const { written } = this;
        this.syncs.push(sync);
        return sync.promise.then(() => {
          if (isClosed) throw new Error("the file was closed");
          this.synced = written;
        });
      },
      stat: () => this.#stat(),
      close: () => {
        isClosed = true;
      },
    };
  }
}

async function waitMicrotasks(count: number): Promise<void> {
  for (let number = 0; number < count; number++) await Promise.resolve();
}

Deno.test("log writer: a sync stores lines that were written during the sync before it", async () => {
  const log = new SlowLog();
  await log.append("one");
  const first = log.writer.sync();
  await log.append("two");
  log.syncs[0]?.resolve();
  await first;
  const second = log.writer.sync();
  log.syncs[1]?.resolve();
  await second;
  assertEquals([log.syncs.length, log.synced], [2, log.written]);
});

Deno.test("log writer: writes a line while a sync ends, at whatever moment", async () => {
  for (let moment = 0; moment < 12; moment++) {
    const log = new SlowLog();
    await log.append("one");
    const sync = log.writer.sync();
    log.syncs[0]?.resolve();
    await waitMicrotasks(moment);
    assertEquals((await log.append("two")).error, undefined, `at moment ${moment}`);
    await sync;
  }
});

Deno.test("log writer: keeps the file open while another sync is under way", async () => {
  const log = new SlowLog();
  await log.append("one");
  const syncs = [log.writer.sync(), log.writer.sync()];
  log.syncs[0]?.resolve();
  await syncs[0];
  log.syncs[1]?.resolve();
  await syncs[1];
  assertEquals(log.synced, log.written);
});

Deno.test("log writer: a sync finds a replaced file while lines are written", async () => {
  const log = new SlowLog();
  await log.append("one");
  const sync = log.writer.sync();
  log.inode = 2;
  const appended = log.append("two");
  log.syncs[0]?.resolve();
  await assertRejects(() => sync, SessionError, "replaced");
  await appended;
});
