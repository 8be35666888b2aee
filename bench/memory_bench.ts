/**
 * What sessions and compaction cost, over the least code that reads or writes the same bytes.
 *
 * Each figure is the median of warm runs; the files are in the page cache.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { type AgentMessage, userMessage } from "../mod.ts";
import {
  FileSessionStore,
  type Session,
  slidingWindow,
  SqliteSessionStore,
} from "../src/memory/mod.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../src/testing/mod.ts";
import { median, report, type Row } from "./report.ts";

const RUNS = 9;
const ENTRIES = 20_000;
/** Makes 20,000 entries a log of 14 MB. */
const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(12).slice(0, 520);
const SESSIONS = 1_000;

const nextTask = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function timed(work: () => unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function medianOf(work: () => unknown, runs = RUNS): Promise<number> {
  const times: number[] = [];
  for (let run = -2; run < runs; run++) times.push(await timed(work));
  return median(times.slice(2));
}

const milliseconds = (time: number): string => `${time.toFixed(time < 10 ? 2 : 1)} ms`;
const microseconds = (time: number): string => `${(1000 * time).toFixed(1)} µs`;

/** What the loop's own thread spends on an entry, while it does something else as well. */
async function appendRows(folder: string): Promise<Row[]> {
  const stores = {
    file: new FileSessionStore({ directory: `${folder}/append` }),
    SQLite: new SqliteSessionStore({ path: `${folder}/append.db` }),
  };
  const rows: Row[] = [];
  for (const [name, store] of Object.entries(stores)) {
    const session = await store.create();
    const say = (number: number) =>
      session.append({ type: "message", message: userMessage(`${number} ${TEXT}`, number) });
    const loop = (work: (number: number) => void) => async () => {
      for (let number = 0; number < 2_000; number++) {
        work(number);
        await nextTask();
      }
    };
    const idle = await medianOf(loop(() => {}));
    const busy = await medianOf(loop(say));
    const each = (busy - idle) / 2_000;
    await session.flush();
    const flushed = await medianOf(async () => {
      say(0);
      await session.flush();
    }, 101);
    await session.close();
    const target = name === "file" ? "≤ 20 µs" : "";
    rows.push([`append an entry while streaming, ${name}`, microseconds(each), "", target]);
    rows.push([`append and flush to the disk (fdatasync), ${name}`, microseconds(flushed), "", ""]);
  }
  await stores.SQLite.close();
  return rows;
}

async function openRows(folder: string): Promise<Row[]> {
  const store = () => new FileSessionStore({ directory: `${folder}/open` });
  await write(await store().create({ id: "long" }), ENTRIES);
  const path = `${folder}/open/long.jsonl`;
  const index = await Deno.readFile(`${folder}/open/long.index`);
  const floor = await medianOf(async () => {
    const lines = new TextDecoder().decode(await Deno.readFile(path)).split("\n");
    lines.pop();
    return lines.map((line) => JSON.parse(line));
  });
  const open = async () => {
    await using session = await store().open("long", { access: "read" });
    await session.path();
  };
  const byIndex = await medianOf(open);
  await Deno.remove(`${folder}/open/long.index`);
  const byLines = await medianOf(open);
  await Deno.writeFile(`${folder}/open/long.index`, index);
  const megabytes = ((await Deno.stat(path)).size / 1e6).toFixed(1);
  const what = `open ${ENTRIES} entries (${megabytes} MB) at the leaf`;
  return [
    [`read and JSON.parse the same bytes`, milliseconds(floor), "1.00", ""],
    [`${what}, without an index`, milliseconds(byLines), (byLines / floor).toFixed(2), "≤ 2"],
    [`${what}, with its index`, milliseconds(byIndex), (byIndex / floor).toFixed(2), "≤ 2"],
    ...await branchRow(folder, floor),
  ];
}

/** A long log whose leaf is near the root: only the bytes of the path are read. */
async function branchRow(folder: string, floor: number): Promise<Row[]> {
  const store = () => new FileSessionStore({ directory: `${folder}/branch` });
  const session = await store().create({ id: "branch" });
  const root = session.append({ type: "message", message: userMessage("root", 0) });
  for (let number = 1; number < ENTRIES; number++) say(session, number);
  session.moveLeaf(root.id);
  say(session, 0);
  await session.close();
  const time = await medianOf(async () => {
    await using session = await store().open("branch", { access: "read" });
    await session.path();
  });
  const what = `open ${ENTRIES} entries at a path of 3, with its index`;
  return [[what, milliseconds(time), (time / floor).toFixed(2), "only the path"]];
}

function say(session: Session, number: number): void {
  session.append({ type: "message", message: userMessage(`${number} ${TEXT}`, number) });
}

async function write(session: Session, entries: number): Promise<void> {
  for (let number = 0; number < entries; number++) say(session, number);
  await session.close();
}

async function listRows(folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [size, entries] of [["10 KB", 14], ["1 MB", 1430]] as const) {
    const directory = `${folder}/list-${entries}`;
    await write(await new FileSessionStore({ directory }).create({ id: "s0" }), entries);
    // The same bytes under many names: a list looks at each as at a session of its own.
    for (let number = 1; number < SESSIONS; number++) {
      await Deno.link(`${directory}/s0.jsonl`, `${directory}/s${number}.jsonl`);
    }
    const cold = await timed(() => new FileSessionStore({ directory }).list());
    const warm = await medianOf(() => new FileSessionStore({ directory }).list());
    const what = `list ${SESSIONS} sessions of ${size}`;
    rows.push([`${what}, indexes missing`, milliseconds(cold), "", ""]);
    rows.push([what, milliseconds(warm), "", "≤ 50 ms"]);
  }
  return rows;
}

function history(length: number): AgentMessage[] {
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

async function windowRows(): Promise<Row[]> {
  const { signal } = new AbortController();
  const model = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;
  const input = { overflow: false, model, systemPrompt: "", tools: [], signal };
  const cut = async (messages: readonly AgentMessage[]) => {
    await slidingWindow({ contextWindow: 50_000 })(messages, input);
  };
  const rows: Row[] = [];
  let first: number | undefined;
  for (const length of [10_000, 20_000, 40_000]) {
    const fresh = history(length);
    const unseen = await timed(() => cut(fresh));
    const time = await medianOf(() => cut(fresh));
    first ??= time;
    const [ratio, target] = [(time / first).toFixed(2), length === 10_000 ? "≤ 5 ms" : "linear"];
    const what = `cut ${length.toLocaleString("en")} messages`;
    rows.push([`${what}, never counted before`, milliseconds(unseen), "", ""]);
    rows.push([what, milliseconds(time), ratio, target]);
  }
  return rows;
}

const folder = await Deno.makeTempDir({ prefix: "swink_bench_" });
try {
  report("Sessions", [
    ...await appendRows(folder),
    ...await openRows(folder),
    ...await listRows(folder),
  ]);
  report("Compaction: sliding window", await windowRows());
} finally {
  await Deno.remove(folder, { recursive: true });
}
