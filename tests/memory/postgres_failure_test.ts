import { assert, assertEquals, assertRejects } from "@std/assert";
import { SessionError } from "../../src/core/errors/errors.ts";
import type { Session } from "../../src/core/sessions/session.ts";
import { seededRandom } from "../../src/testing/mod.ts";
import { createDeadline } from "../deadline.ts";
import { type PostgresStores, ServerTests } from "./postgres_stores.ts";

const tests = await ServerTests.start({ durable: true });
const CHILD_PATH = new URL("./postgres_child.ts", import.meta.url).pathname;
const FLAGS = ["run", "--quiet", "--no-config", "--no-lock", "--cached-only", "--no-check", "-A"];

/** Starts a process that writes to the session `s`. */
function spawnChild(stores: PostgresStores, mode: string, ...args: string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: [...FLAGS, CHILD_PATH, mode, stores.server.url, stores.schema, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    signal: createDeadline(),
  }).spawn();
}

/** A process that appends the titles that it is sent. */
class HoldingChild implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<string>;

  constructor(stores: PostgresStores) {
    this.#child = spawnChild(stores, "hold");
    this.#input = this.#child.stdin.getWriter();
    this.#output = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Returns the next output. */
  async read(): Promise<string> {
    return (await this.#output.read()).value?.trim() ?? "";
  }

  /** Appends a title; returns the result. */
  async append(title: string): Promise<string> {
    await this.#input.write(new TextEncoder().encode(title));
    return await this.read();
  }

  signal(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close().catch(() => undefined);
    await this.#output.cancel();
    await this.#child.status;
  }
}

async function readTitles(stores: PostgresStores, id = "s"): Promise<string[]> {
  await using session = await stores.open().open(id, { access: "read" });
  assertEquals(session.damage, []);
  return (await session.path()).map((entry) => entry.type === "title" ? entry.title : entry.type);
}

async function appendTitle(session: Session, title: string): Promise<void> {
  session.append({ type: "title", title });
  await session.flush();
}

async function createTestSession(stores: PostgresStores): Promise<void> {
  await using session = await stores.open().create({ id: "s" });
  await appendTitle(session, "begun");
}

tests.test("keeps all entries when several processes compete for the lease", async (stores) => {
  await createTestSession(stores);
  const [processes, entries] = [3, 15];
  const children = Array.from({ length: processes }, async () => {
    const child = spawnChild(stores, "append", `${entries}`);
    await child.stdin.close();
    const { success } = await child.output();
    assert(success);
  });
  await Promise.all(children);
  await using session = await stores.open().open("s");
  assertEquals(session.damage, []);
  const path = await session.path({ types: ["custom"] });
  const data = path.map((entry) => entry.type === "custom" && JSON.stringify(entry.data));
  assertEquals([path.length, new Set(data).size], [processes * entries, processes * entries]);
});

tests.test(
  "takes over the session of a process that was stopped, which can then not write",
  async (stores) => {
    await createTestSession(stores);
    await using child = new HoldingChild(stores);
    assertEquals(await child.read(), "open");
    assertEquals(await child.append("of the first"), "stored");
    const error = await assertRejects(
      () => stores.open().open("s"),
      SessionError,
      "is open in hold",
    );
    assertEquals(error.reason, "locked");
    child.signal("SIGSTOP");
    await stores.endLease("s");
    const session = await stores.open().open("s");
    await appendTitle(session, "of the second");
    child.signal("SIGCONT");
    assertEquals(await child.append("lost"), "lock_lost");
    await appendTitle(session, "also of the second");
    await session.close();
    const titles = ["begun", "of the first", "of the second", "also of the second"];
    assertEquals(await readTitles(stores), titles);
  },
);

tests.test("takes over the session of a process that was killed", async (stores) => {
  await createTestSession(stores);
  await using child = new HoldingChild(stores);
  assertEquals(await child.read(), "open");
  assertEquals(await child.append("stored"), "stored");
  child.signal("SIGKILL");
  await stores.endLease("s");
  await using session = await stores.open().open("s");
  assertEquals(session.outline.length, 2);
});

tests.test(
  "loses and doubles no entry when the server is killed during appends",
  async (stores) => {
    const { server } = stores;
    const store = stores.open({ retryMs: 60_000, maxConnections: 5 });
    const random = seededRandom(21);
    const sessions = await Promise.all(
      Array.from({ length: 10 }, (_, number) => store.create({ id: `s${number}` })),
    );
    let isOver = false;
    const write = async (session: Session): Promise<string[]> => {
      const titles: string[] = [];
      while (!isOver) {
        const title = `${session.id} ${titles.length}`;
        await appendTitle(session, title);
        titles.push(title);
      }
      return titles;
    };
    const written = sessions.map(write);
    for (let crash = 0; crash < 3; crash++) {
      await new Promise((resolve) => setTimeout(resolve, 100 * random()));
      await server.crash();
    }
    isOver = true;
    for (const [index, titles] of (await Promise.all(written)).entries()) {
      const session = sessions[index];
      await session?.close();
      assertEquals(await readTitles(stores, session?.id), titles);
    }
  },
);

tests.test(
  "reports a server that does not answer, and works when it does again",
  async (stores) => {
    await createTestSession(stores);
    const store = stores.open({ retryMs: 50, timeoutMs: 200 });
    await stores.server.signal("SIGSTOP");
    try {
      const advice = "check that it runs and that the connection is right";
      const error = await assertRejects(() => store.open("s"), SessionError, advice);
      assertEquals(error.reason, "write_failed");
    } finally {
      await stores.server.signal("SIGCONT");
    }
    await using session = await stores.open().open("s");
    await appendTitle(session, "after");
  },
);

tests.test("answers under any time limit, also one longer than that of timers", async (stores) => {
  for (const timeoutMs of [1e10, Infinity]) {
    const store = stores.open({ timeoutMs });
    assertEquals(await store.list({ tenant: `${timeoutMs}` }), []);
  }
});
