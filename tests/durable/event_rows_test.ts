import { assertEquals } from "@std/assert";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { systemClock } from "../../src/core/ports/ports.ts";
import { ControlConnection } from "../../src/durable/dbos/control_connection.ts";
import { EventRows, parseNotification } from "../../src/durable/dbos/event_rows.ts";
import { RunTables } from "../../src/durable/dbos/run_tables.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";

const server = POSTGRES_DIRECTORY === undefined ? undefined : await startPostgres();
Deno.test.afterAll(() => server?.stop());
const executorId = "worker";

/** Opens the rows of a schema of their own. */
async function openRows(
  schema: string,
  { onRuns = () => {}, runs }: {
    readonly onRuns?: (runIds: readonly string[]) => void;
    readonly runs?: string;
  } = {},
) {
  const tables = new RunTables(schema, "swink");
  const connection = new ControlConnection({
    databaseUrl: server?.url ?? "",
    clock: systemClock,
    setUp: (query) => tables.setUp(query, executorId),
    onNotification: ({ payload = "" }) => onRuns(parseNotification(payload)?.runIds ?? []),
    onReconnect: () => {},
  });
  await connection.open();
  const { events: table } = tables;
  const rows = new EventRows({ table, connection, executorId, runs, clock: systemClock });
  return { rows, connection, table };
}

Deno.test({
  name:
    "EventRows: events are stored and reported whatever the characters of the ids of their runs",
  ignore: !server,
  fn: async () => {
    const runIds = Array.from(
      { length: 90 },
      (_, index) => `${index}`.padEnd(150, "\u{10348}\\\u0001会"),
    );
    const reported: string[] = [];
    const hasAll = createDeferred<void>();
    const { rows, connection } = await openRows("long_ids", {
      onRuns: (ids) => {
        reported.push(...ids);
        if (reported.length === runIds.length) hasAll.resolve();
      },
    });
    try {
      const numbers = await rows.append(runIds.map((runId) => ({ runId, type: "end" })));
      assertEquals(numbers, runIds.map(() => 1));
      await hasAll.promise;
      assertEquals(reported.toSorted(), runIds.toSorted());
    } finally {
      await connection.close();
    }
  },
});

Deno.test({
  name:
    "EventRows: the events of all runs that have ended are deleted, however many end between two looks",
  ignore: !server,
  fn: async () => {
    const { rows, connection, table } = await openRows("many_ended");
    try {
      await connection.query(
        `INSERT INTO ${table.name} (run_id, number, batch, type, created)
         SELECT 'run-' || run, number, '', CASE number WHEN 3 THEN 'end' ELSE 'event' END,
           now() - interval '1 hour'
         FROM generate_series(1, 2500) AS run, generate_series(1, 3) AS number`,
      );
      await rows.append([{ runId: "new", type: "end" }]);
      await rows.removeEnded(60_000);
      const left = await connection.query(`SELECT run_id FROM ${table.name}`);
      assertEquals(left, [{ run_id: "new" }]);
    } finally {
      await connection.close();
    }
  },
});

Deno.test({
  name: "EventRows: the events of a run that another worker executes are dropped",
  ignore: !server,
  fn: async () => {
    const { rows, connection, table } = await openRows("taken", { runs: "taken.runs" });
    try {
      await connection.query("CREATE TABLE taken.runs (workflow_uuid text, executor_id text)");
      await connection.query(
        "INSERT INTO taken.runs VALUES ('own', 'worker'), ('new', NULL), ('taken', 'other')",
      );
      const event = { type: "event", event: 1, key: "" } as const;
      const append = () =>
        rows.append(
          ["own", "taken", "new", "missing", "own", "taken"].map((runId) => ({ ...event, runId })),
        );
      assertEquals(await append(), [1, 0, 1, 1, 2, 0]);
      await connection.query(
        "UPDATE taken.runs SET executor_id = 'other' WHERE executor_id IS NOT NULL",
      );
      assertEquals(await append(), [0, 0, 2, 2, 0, 0]);
      const stored = await connection.query(
        `SELECT run_id, number FROM ${table.name} ORDER BY run_id, number`,
      );
      assertEquals(stored.map(({ run_id, number }) => `${run_id} ${number}`), [
        ...["missing 1", "missing 2", "new 1", "new 2", "own 1", "own 2"],
      ]);
    } finally {
      await connection.close();
    }
  },
});

Deno.test({
  name: "EventRows: a call that is repeated, since its answer was lost, appends nothing again",
  ignore: !server,
  fn: async () => {
    const { rows, connection } = await openRows("repeated");
    try {
      const events = [1, 2].map((
        event,
      ) => ({ type: "event", event, key: "", runId: "run" } as const));
      assertEquals(await rows.append([]), []);
      assertEquals([await rows.append(events), await rows.append(events)], [[1, 2], [1, 2]]);
      const found = await rows.read([{ runId: "run", after: 0 }], 10);
      assertEquals(found.get("run")?.length, 2);
    } finally {
      await connection.close();
    }
  },
});

Deno.test("EventRows: a notification of another application, which needs no right for it, is ignored", () => {
  const texts = ["", "x", "null", "[]", "{}", '{"executorId":1,"runIds":[]}'];
  texts.push('{"executorId":"a","runIds":"b"}', '{"executorId":"a","runIds":[1]}');
  assertEquals(texts.map((text) => parseNotification(text)), texts.map(() => undefined));
  const known = { executorId: "a", runIds: ["b"] };
  assertEquals(parseNotification(JSON.stringify(known)), known);
});
