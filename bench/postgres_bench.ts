/**
 * Measures sessions in Postgres, on a private server with the defaults of Postgres: every commit is synced to the disk.
 *
 * Statements that are compared alternate within one run, since the time of a commit is mostly that of the disk.
 *
 * @module
 */

import { userMessage } from "../mod.ts";
import type { Session } from "../src/memory/mod.ts";
import { PostgresSessionStore } from "../src/memory/postgres/mod.ts";
import { createPool } from "../src/memory/postgres/postgres_client.ts";
import {
  POSTGRES_DIRECTORY,
  type PostgresServer,
  startPostgres,
} from "../tests/memory/postgres_server.ts";
import { median, printReport, type Row } from "./report.ts";

/** Text of a message. */
const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(12).slice(0, 520);
const APPENDS = 1_000;
/** Number of appends before those that are measured, so that both processes are warm. */
const WARM_UP = 200;
const LOAD = { sessions: 200, perSecond: 10, seconds: 10 };
const SESSIONS = 1_000_000;
const PAGE = 100;

const formatMilliseconds = (time: number): string => `${time.toFixed(2)} ms`;

async function measureTime(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function getQuantile(times: readonly number[], quantile: number): number {
  return times.toSorted((left, right) => left - right)[Math.floor(quantile * times.length)] ??
    Number.NaN;
}

function appendMessage(session: Session, number: number): void {
  session.append({ type: "message", message: userMessage(`${number} ${TEXT}`, number) });
}

/** Compares the time until an entry is stored with that of an `INSERT` of the same line. */
async function benchAppend({ url, sql }: PostgresServer): Promise<Row[]> {
  await using store = new PostgresSessionStore({ connection: url });
  await using session = await store.create({ id: "append", tenant: "acme", user: "amy" });
  appendMessage(session, 0);
  await session.flush();
  const [{ line } = { line: "" }] = await sql("SELECT line FROM swink.entries");
  await sql(
    'CREATE TABLE bare (session text COLLATE "C", position integer, line text, PRIMARY KEY (session, position))',
  );
  const pool = await createPool({
    connection: url,
    ssl: undefined,
    maxConnections: 1,
    timeoutMs: 30_000,
  });
  const times: { readonly bare: number[]; readonly append: number[] } = { bare: [], append: [] };
  for (let number = 0; number < WARM_UP + APPENDS; number++) {
    times.bare.push(
      await measureTime(() =>
        pool.query("INSERT INTO bare VALUES ($1, $2, $3)", ["append", number, line])
      ),
    );
    times.append.push(
      await measureTime(async () => {
        appendMessage(session, number);
        await session.flush();
      }),
    );
  }
  await pool.end();
  const getMedian = (all: readonly number[]) => median(all.slice(WARM_UP));
  const [bare, append] = [getMedian(times.bare), getMedian(times.append)];
  return [
    ["insert the line of an entry, bare", formatMilliseconds(bare), "1.00", ""],
    [
      "append and flush an entry",
      formatMilliseconds(append),
      (append / bare).toFixed(2),
      "≤ 1.5",
    ],
  ];
}

/** Writes to many sessions at the same time, at a fixed rate, and counts the entries afterwards. */
async function benchLoad({ url, sql }: PostgresServer): Promise<Row[]> {
  await using store = new PostgresSessionStore({ connection: url });
  const sessions = await Promise.all(
    Array.from({ length: LOAD.sessions }, (_, number) => store.create({ id: `load ${number}` })),
  );
  const times: number[] = [];
  const interval = 1_000 / LOAD.perSecond;
  const count = LOAD.perSecond * LOAD.seconds;
  const startedAt = performance.now();
  const write = async (session: Session, index: number) => {
    for (let number = 0; number < count; number++) {
      const due = startedAt + interval * (number + index / sessions.length);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      appendMessage(session, number);
      times.push(await measureTime(() => session.flush()));
    }
  };
  await Promise.all(sessions.map(write));
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const session of sessions) await session.close();
  const [{ count: stored } = { count: 0 }] = await sql(
    "SELECT count(*) FROM swink.entries WHERE session LIKE 'load %'",
  );
  const lost = LOAD.sessions * count - Number(stored);
  const name = `${LOAD.sessions} sessions, ${LOAD.perSecond} appends a second each`;
  const rate = `${Math.round(times.length / seconds)} a second`;
  return [
    [`${name}: lost entries`, String(lost), "", "0"],
    [`${name}: reached`, rate, "", `${LOAD.sessions * LOAD.perSecond}`],
    [`${name}: median flush`, formatMilliseconds(median(times)), "", ""],
    [`${name}: p99 of a flush`, formatMilliseconds(getQuantile(times, 0.99)), "", "≤ 20 ms"],
  ];
}

/** Lists pages in a table with many sessions, half of which belong to one of 1,000 tenants. */
async function benchPages({ url, sql }: PostgresServer): Promise<Row[]> {
  await using store = new PostgresSessionStore({ connection: url });
  await sql(
    `INSERT INTO swink.sessions (id, entries, updated, tenant, header, summary)
      SELECT 'copy ' || number, 1, number, CASE WHEN number % 2 = 0 THEN 'tenant ' || number % 1000 END,
        header, summary
      FROM swink.sessions, generate_series(1, $1::integer) AS number WHERE id = 'append'`,
    [SESSIONS],
  );
  await sql("VACUUM ANALYZE swink.sessions");
  const measurePages = async (filter: { readonly tenant?: string }) => {
    const times: number[] = [];
    let cursor: string | undefined = JSON.stringify([SESSIONS / 2, "copy 0", Date.now()]);
    for (let page = 0; page < 20 && cursor !== undefined; page++) {
      const options = { limit: PAGE, cursor, ...filter };
      times.push(
        await measureTime(async () => {
          ({ cursor } = await store.list(options));
        }),
      );
    }
    return median(times);
  };
  const name = `page of ${PAGE} of ${SESSIONS.toLocaleString("en")} sessions by cursor`;
  return [
    [name, formatMilliseconds(await measurePages({})), "", "≤ 20 ms"],
    [
      `${name}, of one tenant`,
      formatMilliseconds(await measurePages({ tenant: "tenant 0" })),
      "",
      "≤ 20 ms",
    ],
  ];
}

if (POSTGRES_DIRECTORY === undefined) {
  console.log(
    "\nSessions in Postgres: skipped without PostgreSQL (run scripts/install_postgres.ts)",
  );
} else {
  const server = await startPostgres({ durable: true });
  try {
    printReport("Sessions in Postgres", [
      ...await benchAppend(server),
      ...await benchLoad(server),
      ...await benchPages(server),
    ]);
  } finally {
    await server.stop();
  }
}
