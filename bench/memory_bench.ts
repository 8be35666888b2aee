/**
 * Measures sessions and compaction, compared with a minimal read of the same bytes.
 *
 * Each value is the median of warm runs, with the files in the page cache. Values of "CPU" are the processor time of this
 * process, which other programs on the machine change less than the elapsed time.
 *
 * @module
 */

import process from "node:process";
import { setImmediate } from "node:timers";
import { type AgentMessage, userMessage } from "../mod.ts";
import {
  FileSessionStore,
  type Session,
  slidingWindow,
  SqliteSessionStore,
} from "../src/memory/mod.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../src/testing/mod.ts";
import { median, printReport, type Row } from "./report.ts";

const RUNS = 9;
const ENTRIES = 20_000;
/** Text of a message; 20,000 of them are a log of 14 MB. */
const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(12).slice(0, 520);
const SESSIONS = 1_000;
/** Number of entries that are appended together. */
const BATCH_SIZE = 1_000;
/** Number of entries of a long session. */
const LONG_ENTRIES = 100_000;
/** Number of sessions of which a page is listed. */
const PAGE_SESSIONS = 5_000;

const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function measureTime(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function measureMedian(work: () => unknown, runs = RUNS): Promise<number> {
  const times: number[] = [];
  for (let run = -2; run < runs; run++) times.push(await measureTime(work));
  return median(times.slice(2));
}

/** Measures the processor time of all threads of this process, in milliseconds. */
async function measureCpu(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function measureMedianCpu(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let run = -2; run < RUNS; run++) times.push(await measureCpu(work));
  return median(times.slice(2));
}

const formatMilliseconds = (time: number): string => `${time.toFixed(time < 10 ? 2 : 1)} ms`;
const formatMicroseconds = (time: number): string => `${(1000 * time).toFixed(1)} µs`;

/** Measures the time that appending takes on the main thread, interleaved with other tasks. */
async function benchAppend(root: string): Promise<Row[]> {
  const stores = {
    file: new FileSessionStore({ directory: `${root}/append` }),
    SQLite: new SqliteSessionStore({ path: `${root}/append.db` }),
  };
  const rows: Row[] = [];
  for (const [name, store] of Object.entries(stores)) {
    const session = await store.create();
    const append = (number: number) =>
      session.append({ type: "message", message: userMessage(`${number} ${TEXT}`, number) });
    const loop = (work: (number: number) => void) => async () => {
      for (let number = 0; number < 2_000; number++) {
        work(number);
        await yieldToEventLoop();
      }
    };
    const idle = await measureMedian(loop(() => {}));
    const busy = await measureMedian(loop(append));
    const perEntry = (busy - idle) / 2_000;
    await session.flush();
    const flushed = await measureMedian(async () => {
      append(0);
      await session.flush();
    }, 101);
    await session.close();
    const target = name === "file" ? "≤ 20 µs" : "";
    rows.push([
      `append an entry while streaming, ${name}`,
      formatMicroseconds(perEntry),
      "",
      target,
    ]);
    rows.push([
      `append and flush to the disk (fdatasync), ${name}`,
      formatMicroseconds(flushed),
      "",
      "",
    ]);
  }
  await stores.SQLite.close();
  return rows;
}

/** Measures entries that are appended in one task and flushed together. */
async function benchBatch(root: string): Promise<Row[]> {
  const sqlite = new SqliteSessionStore({ path: `${root}/batch.db` });
  const stores = [
    ["file", new FileSessionStore({ directory: `${root}/batch` }), "≤ 20 µs"],
    ["SQLite", sqlite, "≤ 60 µs"],
  ] as const;
  const texts = Array.from({ length: BATCH_SIZE }, (_, number) => `${number} ${TEXT}`);
  const encode = () => texts.map((text, number) => JSON.stringify(userMessage(text, number)));
  const baseline = await measureMedianCpu(encode) / BATCH_SIZE;
  const rows: Row[] = [[
    "JSON.stringify of a message, CPU",
    formatMicroseconds(baseline),
    "1.00",
    "",
  ]];
  for (const [name, store, target] of stores) {
    const session = await store.create();
    const time = await measureMedianCpu(async () => {
      for (const [number, text] of texts.entries()) {
        session.append({ type: "message", message: userMessage(text, number) });
      }
      await session.flush();
    }) / BATCH_SIZE;
    await session.close();
    const ratio = (time / baseline).toFixed(1);
    rows.push([
      `append an entry in a batch of ${BATCH_SIZE}, ${name}, CPU`,
      formatMicroseconds(time),
      ratio,
      target,
    ]);
  }
  await sqlite.close();
  return rows;
}

/** Measures opening a long session. */
async function benchLongSession(root: string): Promise<Row[]> {
  const store = () => new FileSessionStore({ directory: `${root}/long` });
  const session = await store().create({ id: "long" });
  for (let number = 0; number < LONG_ENTRIES; number++) {
    session.append({ type: "message", message: userMessage(`Message ${number}`, number) });
  }
  await session.close();
  const path = `${root}/long/long.jsonl`;
  const parse = async () => {
    const lines = (await Deno.readTextFile(path)).trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line));
  };
  const baseline = await measureMedianCpu(parse);
  const open = async () => {
    await using session = await store().open("long", { access: "read" });
    return session.leafId;
  };
  const indexed = await measureMedianCpu(open);
  await Deno.remove(`${root}/long/long.index`);
  const scanned = await measureMedianCpu(open);
  const count = LONG_ENTRIES.toLocaleString("en");
  const row = (name: string, time: number, target: string): Row => [
    `${name}, CPU`,
    formatMilliseconds(time),
    (time / baseline).toFixed(2),
    target,
  ];
  return [
    row(`read and JSON.parse ${count} entries`, baseline, ""),
    row(`open ${count} entries with the index`, indexed, "≤ 300 ms"),
    row(`open ${count} entries without an index`, scanned, ""),
  ];
}

/** Measures a page of many sessions in files of their own. */
async function benchPage(root: string): Promise<Row[]> {
  const directory = `${root}/page`;
  await Deno.mkdir(directory);
  const start = Date.now() - 10_000 * PAGE_SESSIONS;
  for (let number = 0; number < PAGE_SESSIONS; number++) {
    const time = start + 10_000 * number;
    const entry = { type: "title", id: "a", parentId: null, timestamp: time, title: `${number}` };
    const header = { type: "session", version: 1, id: `s${number}`, created: time };
    const path = `${directory}/s${number}.jsonl`;
    await Deno.writeTextFile(path, `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`);
    await Deno.utime(path, time / 1000, time / 1000);
  }
  const store = () => new FileSessionStore({ directory });
  await store().list();
  const stat = await measureMedianCpu(() =>
    Array.from(Deno.readDirSync(directory), ({ name }) => Deno.statSync(`${directory}/${name}`))
  );
  const page = await measureMedianCpu(() => store().list({ limit: 20 }));
  const { cursor = "" } = await store().list({ limit: 20 });
  const next = await measureMedianCpu(() => store().list({ limit: 20, cursor }));
  const count = PAGE_SESSIONS.toLocaleString("en");
  const row = (name: string, time: number, target: string): Row => [
    `${name}, CPU`,
    formatMilliseconds(time),
    (time / stat).toFixed(2),
    target,
  ];
  return [
    row(`stat the files of ${count} sessions`, stat, ""),
    row(`first page of ${count} sessions with indexes`, page, "≤ 50 ms"),
    row(`second page`, next, "≤ 50 ms"),
  ];
}

async function benchOpen(root: string): Promise<Row[]> {
  const store = () => new FileSessionStore({ directory: `${root}/open` });
  await fillSession(await store().create({ id: "long" }), ENTRIES);
  const path = `${root}/open/long.jsonl`;
  const index = await Deno.readFile(`${root}/open/long.index`);
  const baseline = await measureMedian(async () => {
    const lines = new TextDecoder().decode(await Deno.readFile(path)).split("\n");
    lines.pop();
    return lines.map((line) => JSON.parse(line));
  });
  const open = async () => {
    await using session = await store().open("long", { access: "read" });
    await session.path();
  };
  const withIndex = await measureMedian(open);
  await Deno.remove(`${root}/open/long.index`);
  const withoutIndex = await measureMedian(open);
  await Deno.writeFile(`${root}/open/long.index`, index);
  const megabytes = ((await Deno.stat(path)).size / 1e6).toFixed(1);
  const name = `open ${ENTRIES} entries (${megabytes} MB) at the leaf`;
  return [
    [`read and JSON.parse the same bytes`, formatMilliseconds(baseline), "1.00", ""],
    [
      `${name}, without an index`,
      formatMilliseconds(withoutIndex),
      (withoutIndex / baseline).toFixed(2),
      "≤ 2",
    ],
    [
      `${name}, with its index`,
      formatMilliseconds(withIndex),
      (withIndex / baseline).toFixed(2),
      "≤ 2",
    ],
    ...await benchBranch(root, baseline),
  ];
}

/** Measures opening a long log whose leaf is near the root, of which only the path is read. */
async function benchBranch(root: string, baseline: number): Promise<Row[]> {
  const store = () => new FileSessionStore({ directory: `${root}/branch` });
  const session = await store().create({ id: "branch" });
  const rootEntry = session.append({ type: "message", message: userMessage("root", 0) });
  for (let number = 1; number < ENTRIES; number++) appendMessage(session, number);
  session.moveLeaf(rootEntry.id);
  appendMessage(session, 0);
  await session.close();
  const time = await measureMedian(async () => {
    await using session = await store().open("branch", { access: "read" });
    await session.path();
  });
  const name = `open ${ENTRIES} entries at a path of 3, with its index`;
  return [[name, formatMilliseconds(time), (time / baseline).toFixed(2), "only the path"]];
}

function appendMessage(session: Session, number: number): void {
  session.append({ type: "message", message: userMessage(`${number} ${TEXT}`, number) });
}

async function fillSession(session: Session, entries: number): Promise<void> {
  for (let number = 0; number < entries; number++) appendMessage(session, number);
  await session.close();
}

async function benchList(root: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [size, entries] of [["10 KB", 14], ["1 MB", 1430]] as const) {
    const directory = `${root}/list-${entries}`;
    await fillSession(await new FileSessionStore({ directory }).create({ id: "s0" }), entries);
    // Hard links to one log: each counts as a session.
    for (let number = 1; number < SESSIONS; number++) {
      await Deno.link(`${directory}/s0.jsonl`, `${directory}/s${number}.jsonl`);
    }
    const cold = await measureTime(() => new FileSessionStore({ directory }).list());
    const warm = await measureMedian(() => new FileSessionStore({ directory }).list());
    const name = `list ${SESSIONS} sessions of ${size}`;
    rows.push([`${name}, without indexes`, formatMilliseconds(cold), "", ""]);
    rows.push([name, formatMilliseconds(warm), "", "≤ 50 ms"]);
  }
  return rows;
}

function createHistory(length: number): AgentMessage[] {
  return Array.from({ length: length / 4 }, (_, number) => {
    const call = toolCall("read", { path: "src/main.ts" }, { id: `call_${number}` });
    return [
      userMessage(TEXT, number),
      assistantMessage([call]),
      toolResultMessage(call, TEXT),
      assistantMessage(TEXT),
    ];
  }).flat();
}

async function benchWindow(): Promise<Row[]> {
  const { signal } = new AbortController();
  const model = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;
  const input = { overflow: false, model, systemPrompt: "", tools: [], signal };
  const compact = async (messages: readonly AgentMessage[]) => {
    await slidingWindow({ contextWindow: 50_000 })(messages, input);
  };
  const rows: Row[] = [];
  let first: number | undefined;
  for (const length of [10_000, 20_000, 40_000]) {
    const history = createHistory(length);
    const cold = await measureTime(() => compact(history));
    const time = await measureMedian(() => compact(history));
    first ??= time;
    const [ratio, target] = [(time / first).toFixed(2), length === 10_000 ? "≤ 5 ms" : "linear"];
    const name = `compact ${length.toLocaleString("en")} messages`;
    rows.push([`${name}, first time`, formatMilliseconds(cold), "", ""]);
    rows.push([name, formatMilliseconds(time), ratio, target]);
  }
  return rows;
}

const directory = await Deno.makeTempDir({ prefix: "swink_bench_" });
try {
  printReport("Sessions", [
    ...await benchAppend(directory),
    ...await benchBatch(directory),
    ...await benchLongSession(directory),
    ...await benchPage(directory),
    ...await benchOpen(directory),
    ...await benchList(directory),
  ]);
  printReport("Compaction: sliding window", await benchWindow());
} finally {
  await Deno.remove(directory, { recursive: true });
}
