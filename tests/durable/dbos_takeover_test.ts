import { assert, assertEquals } from "@std/assert";
import { choosePackages } from "../../scripts/packages.ts";
import { DbosEngine } from "../../src/durable/dbos/mod.ts";
import { loadPg } from "../../src/durable/dbos/npm_packages.ts";
import { createDeadline } from "../deadline.ts";
import {
  POSTGRES_DIRECTORY,
  type PostgresServer,
  startPostgres,
} from "../memory/postgres_server.ts";

/** Time within which a run continues after the death of its worker, in milliseconds. */
const TAKEOVER_MS = 10_000;
/** Pause between two looks for workers that have ended, in milliseconds. */
const RECOVERY_MS = 50;

const { config: configPath } = await choosePackages();
const workerPath = new URL("./hold_worker.ts", import.meta.url).pathname;

/** Starts a worker whose run hangs; resolves when the run is in its second step. */
async function startHolding(
  { url }: PostgresServer,
  id: string,
  name = "swink",
): Promise<Deno.ChildProcess> {
  const worker = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-c", configPath, "--no-check", "-A", workerPath, url, id, name],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
    signal: createDeadline(),
  }).spawn();
  const reader = worker.stdout.getReader();
  const { value } = await reader.read();
  assert(new TextDecoder().decode(value).includes("holding"), "the worker did not start its run");
  await reader.cancel();
  return worker;
}

/** Waits until a worker of an application has looked for workers that have ended: it has found another one, without runs. */
async function awaitLook({ url }: PostgresServer, application = "swink"): Promise<void> {
  const { Client } = await loadPg();
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const other = [crypto.randomUUID(), application];
    await client.query(
      "INSERT INTO swink_durable.workers (executor_id, application) VALUES ($1, $2)",
      other,
    );
    const find = "SELECT 1 FROM swink_durable.workers WHERE executor_id = $1 AND application = $2";
    const deadline = Date.now() + TAKEOVER_MS;
    while ((await client.query(find, other)).rows.length > 0) {
      assert(Date.now() < deadline, "no worker has looked for workers that have ended");
      await new Promise((resolve) => setTimeout(resolve, RECOVERY_MS / 2));
    }
  } finally {
    await client.end();
  }
}

/** Returns the state of a run in DBOS: `ENQUEUED` if another worker is to continue it. */
async function readState({ url }: PostgresServer, runId: string): Promise<unknown> {
  const { Client } = await loadPg();
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      "SELECT status FROM dbos.workflow_status WHERE workflow_uuid = $1",
      [runId],
    );
    return rows[0]?.["status"];
  } finally {
    await client.end();
  }
}

Deno.test({
  name:
    "DbosEngine: the run of a killed worker continues in another one within 10 s, and not before",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    try {
      await using engine = new DbosEngine({ databaseUrl: server.url, recoveryMs: RECOVERY_MS });
      const executed: string[] = [];
      engine.register("hold", async (steps) => {
        await steps.run("before", () => void executed.push("before"));
        return await steps.run("hold", () => {
          executed.push("hold");
          return Date.now();
        });
      });
      await engine.start();
      const worker = await startHolding(server, "held");
      await awaitLook(server);
      assertEquals(await readState(server, "held"), "PENDING");
      assertEquals(executed, [], "the run of a live worker was continued");
      worker.kill("SIGKILL");
      const killedAt = Date.now();
      await worker.status;
      const continuedAt = await engine.getRun<number>("held").result();
      assertEquals(executed, ["hold"]);
      assert(continuedAt - killedAt < TAKEOVER_MS, `${continuedAt - killedAt} ms`);
    } finally {
      await server.stop();
    }
  },
});

Deno.test({
  name:
    "DbosEngine: a worker that was asked to start a run of another one continues it with its messages and events",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    try {
      await using engine = new DbosEngine({ databaseUrl: server.url, recoveryMs: RECOVERY_MS });
      const replayed: boolean[] = [];
      const hold = engine.register("hold", async (steps) => {
        replayed.push(steps.isReplaying);
        await steps.run("before", () => 1);
        await steps.publish("before");
        await steps.run("hold", () => null);
      });
      await engine.start();
      const worker = await startHolding(server, "held");
      const run = await hold.start(null, { id: "held" });
      await run.abort("enough");
      worker.kill("SIGKILL");
      await worker.status;
      await run.result();
      assertEquals(replayed, [true]);
      assertEquals(await run.status(), "aborted");
      const published = (await run.readEvents()).filter(({ type }) => type === "event");
      assertEquals(published.length, 1);
    } finally {
      await server.stop();
    }
  },
});

Deno.test({
  name:
    "DbosEngine: a run stays that of its application when a worker of another one notices the death of its worker",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    try {
      const start = async (name: string) => {
        const engine = new DbosEngine({ databaseUrl: server.url, recoveryMs: RECOVERY_MS, name });
        engine.register("hold", (steps) => steps.run("before", () => 1).then(() => name));
        await engine.start();
        return engine;
      };
      const worker = await startHolding(server, "held", "a");
      const other = await start("b");
      worker.kill("SIGKILL");
      await worker.status;
      await awaitLook(server, "b");
      assertEquals(await readState(server, "held"), "PENDING");
      assertEquals(await other.getRun("held").status(), "running");
      await other.close();
      await using engine = await start("a");
      const run = engine.getRun("held");
      const deadline = Date.now() + TAKEOVER_MS;
      while (await run.status() === "running" && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, RECOVERY_MS));
      }
      assertEquals(await run.status(), "completed");
      assertEquals(await run.result(), "a");
    } finally {
      await server.stop();
    }
  },
});

Deno.test({
  name: "DbosEngine: a message that is recorded before the worker executes the run is delivered",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    const { Client } = await loadPg();
    const client = new Client({ connectionString: server.url });
    try {
      await using engine = new DbosEngine({ databaseUrl: server.url });
      const wait = engine.register("wait", async (steps) => {
        return await steps.waitFor("signal", { timeoutMs: 5_000 }) ?? null;
      });
      await engine.start();
      await client.connect();
      await client.query(
        `INSERT INTO swink_durable.messages (run_id, number, key, message)
         VALUES ('early', 1, 'key', '{"type":"signal","name":"signal","data":"early"}')`,
      );
      assertEquals(await (await wait.start(null, { id: "early" })).result(), "early");
    } finally {
      await client.end();
      await server.stop();
    }
  },
});

Deno.test({
  name: "DbosEngine: runs with the same id in two schemas of DBOS do not share their messages",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    try {
      for (const [schema, expected] of [[undefined, "sent"], ["other", null]] as const) {
        await using engine = new DbosEngine({ databaseUrl: server.url, schema });
        const wait = engine.register("wait", async (steps) => {
          const received = await steps.waitFor("signal", { timeoutMs: 1_000 }) ?? null;
          await steps.publish(received);
          return await steps.waitFor("never") ?? null;
        });
        await engine.start();
        const run = await wait.start(null, { id: "same" });
        if (expected !== null) await run.signal("signal", expected);
        for await (const [first] of run.events()) {
          assertEquals(first, { type: "event", number: 1, event: expected });
          break;
        }
        await engine.close({ graceMs: 0 });
      }
    } finally {
      await server.stop();
    }
  },
});

Deno.test({
  name: "DbosEngine: workers that start at once on a new database wait for each other",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    try {
      const workers = await Promise.all(["a", "b", "c"].map((id) => startHolding(server, id)));
      for (const worker of workers) {
        worker.kill("SIGKILL");
        await worker.status;
      }
    } finally {
      await server.stop();
    }
  },
});
