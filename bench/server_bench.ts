/**
 * Measures the time of an event from the model to the client of a server, over HTTP between two processes.
 *
 * Each run has a client that reads all of its events. A reply has a part every 100 milliseconds, so that 500 runs make
 * 5,000 events a second.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
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

/** Runs a session; resolves to the time of each event on its way, in milliseconds. */
async function measureRun(url: string): Promise<number[]> {
  const { id } = await post(url, {});
  const { eventId = "" } = await post(`${url}/${id}/prompt`, { text: "Write the time" });
  const response = await fetch(`${url}/${id}/events?after=${encodeURIComponent(eventId)}`);
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
  await measureRun(server.url); // Loads all modules.
  const startedAt = performance.now();
  const measured = await Promise.all(Array.from({ length: runs }, () => measureRun(server.url)));
  const seconds = (performance.now() - startedAt) / 1000;
  const times = measured.flat().toSorted((left, right) => left - right);
  const format = (quantile: number) => `${getQuantile(times, quantile).toFixed(1)} ms`;
  const lost = runs * (PARTS - WARM_UP) - times.length;
  return [
    `${runs} runs, store: ${store}`,
    `p50 ${format(0.5)}, p99 ${format(0.99)}`,
    `${Math.round(times.length / seconds)} events/s`,
    `${lost} lost`,
  ];
}

const rows: Row[] = [];
for (const runs of LOADS) rows.push(await benchLoad("memory", runs));
rows.push(await benchLoad("file", 100));
printReport("Server: time of an event from the model to the client", rows);
