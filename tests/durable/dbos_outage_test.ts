import { assert, assertEquals } from "@std/assert";
import { DbosEngine } from "../../src/durable/dbos/mod.ts";
import { withDeadline } from "../deadline.ts";
import {
  POSTGRES_DIRECTORY,
  type PostgresServer,
  startPostgres,
} from "../memory/postgres_server.ts";
import { waitUntil } from "../wait_until.ts";

const ignore = POSTGRES_DIRECTORY === undefined;

/** Restarts a server after a crash, while this process does nothing else. */
function restartWhileBusy({ url }: PostgresServer): void {
  const directory = new URLSearchParams(url.slice(url.indexOf("?"))).get("host") ?? "";
  const script = `kill -9 "$(head -n 1 "$0/data/postmaster.pid")"
    until "$1/pg_isready" -q -h "$0"; do sleep 0.02; done`;
  const { success } = new Deno.Command("sh", {
    args: ["-c", script, directory, POSTGRES_DIRECTORY ?? ""],
  }).outputSync();
  assert(success);
}

Deno.test({
  name:
    "DbosEngine: a run that ends when its process has not noticed a restart of Postgres is completed",
  ignore,
  fn: async () => {
    const server = await startPostgres();
    // A crash loses no transaction that has ended.
    await server.sql("ALTER ROLE postgres SET synchronous_commit = on");
    const engine = new DbosEngine({ databaseUrl: server.url, recoveryMs: 50 });
    let executions = 0;
    const workflow = engine.register("work", async (steps) => {
      await steps.run("first", () => null);
      if (++executions === 1) restartWhileBusy(server);
      return "done";
    });
    await engine.start();
    const run = await workflow.start(null);
    assertEquals(await withDeadline(run.result()), "done");
    await engine.close();
    await server.stop();
  },
});

/** The SQLSTATE of a full disk, a failover, a cancelled statement, one that waits for a lock, and another failure. */
const TEMPORARY_STATES = ["53100", "25006", "57014", "55P03", "XX000"];

/** Lets a server refuse the first attempt to record a step or the outcome of a run, with the SQLSTATE that is its id. */
async function refuseFirstRecords({ sql }: PostgresServer): Promise<void> {
  const sequences = TEMPORARY_STATES.flatMap((state) =>
    ["workflow_status", "operation_outputs"].map((table) => `"${table} ${state}"`)
  );
  for (const sequence of sequences) await sql(`CREATE SEQUENCE ${sequence}`);
  await sql(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval(format('"%s %s"', TG_TABLE_NAME, NEW.workflow_uuid)) = 1 THEN
        RAISE EXCEPTION 'refused' USING ERRCODE = NEW.workflow_uuid;
      END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON dbos.operation_outputs
      FOR EACH ROW EXECUTE FUNCTION refuse();
    CREATE TRIGGER refuse BEFORE UPDATE ON dbos.workflow_status
      FOR EACH ROW WHEN (NEW.status = 'SUCCESS') EXECUTE FUNCTION refuse();
  `);
}

Deno.test({
  name:
    "DbosEngine: steps and outcomes that Postgres cannot record at first are recorded later, without repetition",
  ignore,
  fn: async () => {
    const server = await startPostgres();
    const engine = new DbosEngine({ databaseUrl: server.url, recoveryMs: 50 });
    const executed: string[] = [];
    const workflow = engine.register("work", (steps, id: string) =>
      steps.run("first", () => {
        executed.push(id);
        return id;
      }));
    await engine.start();
    await refuseFirstRecords(server);
    const outcomes = TEMPORARY_STATES.map(async (id) => {
      const run = await workflow.start(id, { id });
      return await run.result();
    });
    assertEquals(await withDeadline(Promise.all(outcomes)), TEMPORARY_STATES);
    assertEquals(executed.toSorted(), TEMPORARY_STATES.toSorted());
    await engine.close();
    await server.stop();
  },
});

Deno.test({
  name: "DbosEngine: a run is continued when its messages can be read, if they cannot at first",
  ignore,
  fn: async () => {
    const server = await startPostgres();
    const start = async () => {
      const engine = new DbosEngine({ databaseUrl: server.url, recoveryMs: 50 });
      const workflow = engine.register("work", async (steps) => await steps.waitFor("end"));
      await engine.start();
      return { engine, workflow };
    };
    const first = await start();
    await first.workflow.start(null, { id: "a" });
    await first.engine.close();
    const { sql } = server;
    await sql("ALTER TABLE swink_durable.messages RENAME TO kept");
    await sql("CREATE SEQUENCE reads");
    await sql(`CREATE VIEW swink_durable.messages AS
      SELECT 'a' AS run_id, 1 AS number, '' AS key, text(1 / (0 * nextval('reads'))) AS message`);
    const next = await start();
    // A worker that has recorded the failed read as the outcome of the run would not read them again.
    const countReads = async () =>
      Number((await sql("SELECT last_value FROM reads"))[0]?.["last_value"]);
    const reading = async () => {
      while (await countReads() < 4);
    };
    await withDeadline(reading());
    await sql("DROP VIEW swink_durable.messages");
    await sql("ALTER TABLE swink_durable.kept RENAME TO messages");
    await next.engine.getRun("a").signal("end", "done");
    assertEquals(await withDeadline(next.engine.getRun("a").result()), "done");
    await next.engine.close();
    await server.stop();
  },
});

Deno.test({
  name: "DbosEngine: a run refuses messages when that can be recorded, if it cannot at first",
  ignore,
  fn: async () => {
    const server = await startPostgres();
    const engine = new DbosEngine({ databaseUrl: server.url, recoveryMs: 50 });
    let attempts = 0;
    const workflow = engine.register("work", async (steps) => {
      attempts++;
      return await steps.refuseMessages();
    });
    await engine.start();
    const { sql } = server;
    await sql("ALTER TABLE swink_durable.messages ADD CONSTRAINT refusal CHECK (key <> 'closed')");
    const run = await workflow.start(null);
    await waitUntil(() => attempts > 1);
    await sql("ALTER TABLE swink_durable.messages DROP CONSTRAINT refusal");
    assertEquals(await withDeadline(run.result()), true);
    await engine.close();
    await server.stop();
  },
});
