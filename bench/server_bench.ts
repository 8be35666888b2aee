/**
 * Measures the time of an event from the model to the client of a server, over HTTP between two processes.
 *
 * Each run has a client that reads all of its events. Durable runs have two workers, and the client reads from the one that
 * does not execute the run. A reply has a part every 100 milliseconds, so that 500 runs make
 * 5,000 events a second.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { POSTGRES_DIRECTORY, startPostgres } from "../tests/memory/postgres_server.ts";
import { printReport, type Row } from "./report.ts";

const PARTS = 50;
const PAUSE_MS = 100;
const LOADS = [10, 100, 500];
/** Parts at the beginning that are not measured, while the runs start. */
const WARM_UP = 5;

interface ServerProcess extends AsyncDisposable {
  readonly url: string;
}

async function startServer(store: string): Promise<ServerProcess> {
  const { pathname } = new URL("./server_process.ts", import.meta.url);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", ...getConfig(), pathname, store, String(PARTS), String(PAUSE_MS)],
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  const reader = lines.getReader();
  const { value: port } = await reader.read();
  return {
    url: `http://127.0.0.1:${port}/v1/sessions`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await reader.cancel();
    },
  };
}

/** Returns the arguments that select the same packages as those of this process. */
function getConfig(): string[] {
  const config = new URL("../deno.offline.json", import.meta.url).pathname;
  const isOffline = import.meta.resolve("@std/streams/text-line-stream").startsWith("file:");
  return isOffline ? ["--no-lock", "-c", config] : [];
}

async function post(url: string, body: object): Promise<Record<string, string>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return await response.json();
}

/**
 * Runs a session; resolves to the time of each event on its way, in milliseconds. The events are read at the same address,
 * or at the one of another worker.
 */
async function measureRun(url: string, readUrl: string = url): Promise<number[]> {
  const { id } = await post(url, {});
  const { eventId = "" } = await post(`${url}/${id}/prompt`, { text: "Write the time" });
  const response = await fetch(`${readUrl}/${id}/events?after=${encodeURIComponent(eventId)}`);
  const lines = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(
    new TextLineStream(),
  );
  const times: number[] = [];
  for await (const line of lines ?? []) {
    const sent = line.startsWith(DELTA) ? readTime(line) : undefined;
    if (sent !== undefined) times.push(performance.timeOrigin + performance.now() - sent);
    else if (line === "event: agent_end") break;
  }
  return times.slice(WARM_UP);
}

/** The beginning of the data of each part. */
const DELTA = 'data: {"type":"message_update","delta":{"type":"text_delta"';
const TIME = '"delta":"';

function readTime(line: string): number {
  return parseFloat(line.slice(line.indexOf(TIME, DELTA.length) + TIME.length));
}

function getQuantile(times: readonly number[], quantile: number): number {
  return times[Math.floor(quantile * times.length)] ?? Number.NaN;
}

async function benchLoad(store: string, runs: number): Promise<Row> {
  await using server = await startServer(store);
  return await measureLoad([server.url, server.url], { title: `store: ${store}`, runs });
}

async function benchDurable(databaseUrl: string, runs: number): Promise<Row> {
  await using first = await startServer(databaseUrl);
  await using second = await startServer(databaseUrl);
  return await measureLoad([first.url, second.url], { title: "durable, 2 workers", runs });
}

/** Measures runs that begin together, alternately at both addresses; each is read at the other one. */
async function measureLoad(
  urls: readonly [string, string],
  { title, runs }: { readonly title: string; readonly runs: number },
): Promise<Row> {
  const measure = (index: number) => {
    const [first, second] = index % 2 === 0 ? urls : urls.toReversed();
    return measureRun(first ?? "", second);
  };
  await Promise.all([measure(0), measure(1)]); // Loads all modules.
  const startedAt = performance.now();
  const measured = await Promise.all(Array.from({ length: runs }, (_, index) => measure(index)));
  const seconds = (performance.now() - startedAt) / 1000;
  const times = measured.flat().toSorted((left, right) => left - right);
  const format = (quantile: number) => `${getQuantile(times, quantile).toFixed(1)} ms`;
  const lost = runs * (PARTS - WARM_UP) - times.length;
  return [
    `${runs} runs, ${title}`,
    `p50 ${format(0.5)}, p99 ${format(0.99)}`,
    `${Math.round(times.length / seconds)} events/s`,
    `${lost} lost`,
  ];
}

const rows: Row[] = [];
for (const runs of LOADS) rows.push(await benchLoad("memory", runs));
rows.push(await benchLoad("file", 100));
if (POSTGRES_DIRECTORY !== undefined) {
  const server = await startPostgres({ durable: true });
  try {
    for (const runs of LOADS) rows.push(await benchDurable(server.url, runs));
  } finally {
    await server.stop();
  }
}
printReport("Server: time of an event from the model to the client", rows);
