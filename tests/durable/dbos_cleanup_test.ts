import { assertEquals } from "@std/assert";
import { DbosEngine } from "../../src/durable/dbos/mod.ts";
import { loadDbos, loadPg, type PgClient } from "../../src/durable/dbos/npm_packages.ts";
import { DEADLINE_MS } from "../deadline.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";

/** The part of DBOS with which administrators end runs. */
interface Administration {
  cancelWorkflow(id: string): Promise<void>;
  deleteWorkflows(ids: string[]): Promise<void>;
}

/** Returns the runs that have events or messages. */
async function listRuns(client: PgClient): Promise<unknown[]> {
  const { rows } = await client.query(
    `SELECT run_id FROM swink_durable.events UNION SELECT run_id FROM swink_durable.messages
     ORDER BY run_id`,
  );
  return rows.map(({ run_id }) => run_id);
}

Deno.test({
  name:
    "DbosEngine: the events and messages of runs that were cancelled or deleted in DBOS are deleted, and no others",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    const { Client } = await loadPg();
    const client = new Client({ connectionString: server.url });
    await client.connect();
    const ids = ["active", "cancelled", "deleted"];
    const start = async (keepEventsMs: number) => {
      const engine = new DbosEngine({ databaseUrl: server.url, recoveryMs: 20, keepEventsMs });
      const wait = engine.register("wait", async (steps) => {
        await steps.publish("begun");
        await steps.waitFor("end");
      });
      await engine.start();
      return { engine, wait };
    };
    try {
      const first = await start(1_000_000);
      for (const id of ids) {
        const run = await first.wait.start(null, { id });
        await run.signal("other", 1);
        for await (const _batch of run.events()) break;
      }
      const dbos = await loadDbos() as unknown as Administration;
      await dbos.cancelWorkflow("cancelled");
      await dbos.cancelWorkflow("deleted");
      await dbos.deleteWorkflows(["deleted"]);
      assertEquals(await listRuns(client), ids);
      await first.engine.close({ graceMs: 0 });
      const second = await start(0);
      const deadline = Date.now() + DEADLINE_MS;
      while ((await listRuns(client)).length > 1 && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assertEquals(await listRuns(client), ["active"]);
      const run = second.engine.getRun("active");
      assertEquals((await run.readEvents())[0], { type: "event", number: 1, event: "begun" });
      await run.signal("end");
      await run.result();
      assertEquals(await second.engine.getRun("cancelled").status(), "aborted");
      await second.engine.close();
    } finally {
      await client.end();
      await server.stop();
    }
  },
});
