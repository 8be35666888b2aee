/**
 * Measures durable runs on DBOS, on a private Postgres server with its defaults: every commit is synced to the disk.
 *
 * Workflows that are compared alternate within one process. The ratios are of interest; the times are those of the machine.
 *
 * @module
 */

import { DBOS } from "@dbos-inc/dbos-sdk";
import { choosePackages } from "../scripts/packages.ts";
import { createDeferred } from "../src/core/ports/deferred.ts";
import { DbosEngine } from "../src/durable/dbos/mod.ts";
import { durableAgent, type DurableSteps } from "../src/durable/mod.ts";
import { fakeTool, reply, scriptedStream, toolCall } from "../src/testing/mod.ts";
import {
  POSTGRES_DIRECTORY,
  type PostgresServer,
  startPostgres,
} from "../tests/memory/postgres_server.ts";
import { STEPS_PER_RUN } from "./durable_worker.ts";
import { median, printReport, type Row } from "./report.ts";

const STEPS = 100;
const ROUNDS = 9;
const TURNS = 200;
/** Number of turns at the begin and at the end of a long run that are compared. */
const COMPARED_TURNS = 50;

const formatMilliseconds = (time: number): string => `${time.toFixed(2)} ms`;

async function measureTime(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Compares steps with those of DBOS itself, and the turns of a long run with each other. */
async function benchSteps(server: PostgresServer): Promise<Row[]> {
  const bare = DBOS.registerWorkflow(async () => {
    for (let step = 0; step < STEPS; step++) {
      await DBOS.runStep(() => Promise.resolve({ step }), { name: `step ${step}` });
    }
  }, { name: "bare" });
  await using engine = new DbosEngine({ databaseUrl: server.url });
  let end = createDeferred<number>();
  const steps = engine.register("steps", async (steps: DurableSteps) => {
    for (let step = 0; step < STEPS; step++) await steps.run(`step ${step}`, () => ({ step }));
    end.resolve(performance.now());
    return null;
  });
  const measureRun = async () => {
    end = createDeferred();
    const startedAt = performance.now();
    await steps.start(null);
    return await end.promise - startedAt;
  };
  const turnTimes: number[] = [];
  const long = engine.register("long", async (steps: DurableSteps) => {
    const script = Array.from(
      { length: TURNS - 1 },
      (_, turn) => reply([toolCall("read", { turn }, { id: `call-${turn}` })]),
    );
    const streamFn = scriptedStream([...script, reply("End")]);
    const tools = [
      fakeTool({ name: "read", readOnly: true, result: "A line of a file. ".repeat(20) }),
    ];
    const options = { model: "test/model", streamFn, tools, maxTurns: TURNS };
    const agent = durableAgent(options, steps);
    let startedAt = performance.now();
    agent.subscribe((event) => {
      if (event.type !== "turn_end") return;
      turnTimes.push(performance.now() - startedAt);
      startedAt = performance.now();
    });
    return (await agent.prompt("Read")).turns;
  });
  await engine.start();
  const times: { readonly bare: number[]; readonly own: number[] } = { bare: [], own: [] };
  for (let round = 0; round < ROUNDS; round++) {
    times.bare.push(await measureTime(() => bare()));
    times.own.push(await measureRun());
  }
  await (await long.start(null, { id: "long" })).result();
  const [bareTime, ownTime] = [median(times.bare) / STEPS, median(times.own) / STEPS];
  const [first, last] = [
    median(turnTimes.slice(1, COMPARED_TURNS)),
    median(turnTimes.slice(-COMPARED_TURNS)),
  ];
  const [{ bytes } = { bytes: 0 }] = await server.sql(
    "SELECT sum(pg_column_size(output)) AS bytes FROM dbos.operation_outputs WHERE workflow_uuid = 'long'",
  );
  return [
    ["a step of DBOS", formatMilliseconds(bareTime), "1.00", ""],
    [
      "a step of a durable run",
      formatMilliseconds(ownTime),
      (ownTime / bareTime).toFixed(2),
      "≤ 1.3",
    ],
    [`a turn of a run, turns 2 to ${COMPARED_TURNS}`, formatMilliseconds(first), "1.00", ""],
    [
      `a turn of a run, turns ${TURNS - COMPARED_TURNS} to ${TURNS}`,
      formatMilliseconds(last),
      (last / first).toFixed(2),
      "≤ 1.2",
    ],
    ["bytes of the records of a turn", `${Math.round(Number(bytes) / TURNS)} B`, "", ""],
  ];
}

/** Measures the steps per second of all workers together. */
async function benchWorkers(
  { url }: PostgresServer,
  { workers, runs }: { readonly workers: number; readonly runs: number },
): Promise<number> {
  const path = new URL("./durable_worker.ts", import.meta.url).pathname;
  const { config } = await choosePackages();
  const processes = Array.from({ length: workers }, (_, index) => {
    const args = [url, `worker-${workers}-${runs}-${index}`, `${runs / workers}`];
    return new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "-A", "--no-check", "-c", config, path, ...args],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
  });
  const outputs = processes.map(({ stdout }) =>
    stdout.pipeThrough(new TextDecoderStream()).getReader()
  );
  for (const output of outputs) await output.read();
  for (const { stdin } of processes) {
    const writer = stdin.getWriter();
    await writer.write(new TextEncoder().encode("go\n"));
    await writer.close();
  }
  const times = await Promise.all(
    outputs.map(async (output) => Number((await output.read()).value)),
  );
  for (const [index, { status }] of processes.entries()) {
    await outputs[index]?.cancel();
    await status;
  }
  return runs * STEPS_PER_RUN / Math.max(...times) * 1000;
}

async function reportWorkers(server: PostgresServer): Promise<Row[]> {
  const rows: Row[] = [];
  for (const runs of [10, 500]) {
    const one = await benchWorkers(server, { workers: 1, runs });
    const two = await benchWorkers(server, { workers: 2, runs });
    rows.push(
      [`${runs} concurrent runs, 1 worker`, `${Math.round(one)} steps/s`, "1.00", ""],
      [
        `${runs} concurrent runs, 2 workers`,
        `${Math.round(two)} steps/s`,
        (two / one).toFixed(2),
        "",
      ],
    );
  }
  return rows;
}

if (POSTGRES_DIRECTORY === undefined) {
  console.log("PostgreSQL is not installed: run scripts/install_postgres.ts");
} else {
  const server = await startPostgres({ durable: true });
  try {
    printReport("Durable runs on DBOS", [
      ...await benchSteps(server),
      ...await reportWorkers(server),
    ]);
  } finally {
    await server.stop();
  }
}
