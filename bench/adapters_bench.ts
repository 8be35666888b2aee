/**
 * Measures reading a reply from loopback, compared with a minimal loop over the body that splits it into lines and calls
 * `JSON.parse` once per event.
 *
 * The server is a separate process. Each value is the median of warm, interleaved runs.
 *
 * @module
 */

import { createAnthropic, createOpenAI } from "../adapters/mod.ts";
import { Agent, type StreamFn } from "../mod.ts";
import { ReplyAccumulator } from "../src/core/streams/accumulate.ts";
import { median, printReport, type Row } from "./report.ts";

const RUNS = 9;

type Api = "openai" | "anthropic";
interface BenchCase {
  readonly api: Api;
  readonly kind: "text" | "args";
  readonly count: number;
}

/** The members of an event that the minimal loop reads. */
interface AnyEvent {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string;
      readonly tool_calls?: readonly { readonly function?: { readonly arguments?: string } }[];
    };
  }[];
  readonly delta?: { readonly text?: string; readonly partial_json?: string };
}

function getDelta(event: AnyEvent): string {
  const delta = event.choices?.[0]?.delta;
  if (delta) return delta.content ?? delta.tool_calls?.[0]?.function?.arguments ?? "";
  return event.delta?.text ?? event.delta?.partial_json ?? "";
}

async function readWithLoop(url: string): Promise<number> {
  const decoder = new TextDecoder();
  const { body } = await fetch(`${url}/loop`, { method: "POST", body: "{}" });
  let incompleteLine = "";
  let message = "";
  for await (const bytes of body ?? []) {
    const text = incompleteLine + decoder.decode(bytes, { stream: true });
    let start = 0;
    for (let end; (end = text.indexOf("\n", start)) >= 0; start = end + 1) {
      if (text.startsWith("data: {", start)) {
        message += getDelta(JSON.parse(text.slice(start + 6, end)));
      }
    }
    incompleteLine = text.slice(start);
  }
  return message.length;
}

function createStreamFn(api: Api, baseUrl: string): StreamFn {
  const createAdapter = api === "openai" ? createOpenAI : createAnthropic;
  return createAdapter({ baseUrl, apiKey: "none" });
}

const MODELS = { openai: "openai/gpt-4o", anthropic: "anthropic/claude-sonnet-4-5" };

async function readWithAdapter(api: Api, url: string): Promise<number> {
  const [provider = "", modelId = ""] = MODELS[api].split("/");
  const reply = new ReplyAccumulator();
  const events = createStreamFn(api, url)({
    model: { provider, modelId, thinkingLevel: "off" },
    context: {
      systemPrompt: "",
      messages: [{ role: "user", content: [{ type: "text", text: "Go" }], timestamp: 0 }],
      tools: [],
    },
    options: {},
    signal: new AbortController().signal,
  });
  for await (const event of events) reply.apply(event);
  return reply.finish().content.length;
}

async function readWithAgent(api: Api, url: string): Promise<number> {
  const agent = new Agent({ model: MODELS[api], streamFn: createStreamFn(api, url) });
  let deltas = 0;
  for await (const event of agent.promptStream("Go")) if (event.type === "message_update") deltas++;
  return deltas;
}

async function measureInterleaved(
  runs: Readonly<Record<string, () => Promise<number>>>,
): Promise<Record<string, number>> {
  const times: Record<string, number[]> = {};
  for (let run = 0; run < RUNS; run++) {
    for (const [name, read] of Object.entries(runs)) {
      const startedAt = performance.now();
      if (await read() === 0) throw new Error(`${name} read nothing`);
      (times[name] ??= []).push(performance.now() - startedAt);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, median(values)]));
}

async function compare(base: string, { api, kind, count }: BenchCase): Promise<Row[]> {
  const url = `${base}/${api}/${kind}/${count}`;
  const { loop = 0, adapter = 0, agent = 0 } = await measureInterleaved({
    loop: () => readWithLoop(url),
    adapter: () => readWithAdapter(api, url),
    ...(kind === "text" && { agent: () => readWithAgent(api, url) }),
  });
  const name = `${api}, ${count.toLocaleString("en")} ${
    kind === "text" ? "deltas" : "bytes of arguments"
  }`;
  const speed = (time: number) => `${Math.round((loop / time) * 100)} %`;
  const ms = (time: number) => `${time.toFixed(1)} ms`;
  const rows: Row[] = [
    [`${name}, minimal loop`, ms(loop), "100 %", ""],
    [`${name}, adapter`, ms(adapter), speed(adapter), kind === "text" ? "≥ 60 %" : "≥ 50 %"],
  ];
  if (kind === "text") rows.push([`${name}, agent`, ms(agent), speed(agent), "≥ 45 %"]);
  return rows;
}

/** Measures memory while 100 MB are streamed and no event is kept. */
async function measureMemory(base: string, deltas: number): Promise<Row> {
  const url = `${base}/openai/text/${deltas}`;
  const events = createStreamFn("openai", url)({
    model: { provider: "openai", modelId: "gpt-4o", thinkingLevel: "off" },
    context: { systemPrompt: "", messages: [], tools: [] },
    options: {},
    signal: new AbortController().signal,
  });
  let eventCount = 0;
  let firstQuarterPeak = 0;
  let peak = 0;
  for await (const _event of events) {
    if (++eventCount % 5000 !== 0) continue;
    const { rss } = Deno.memoryUsage();
    if (eventCount < deltas / 4) firstQuarterPeak = Math.max(firstQuarterPeak, rss);
    peak = Math.max(peak, rss);
  }
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  return [
    "memory over 100 MB of stream",
    megabytes(peak),
    `+${megabytes(peak - firstQuarterPeak)} after the first quarter`,
    "flat",
  ];
}

const server = new Deno.Command(Deno.execPath(), {
  args: [
    "run",
    "--no-config",
    "--allow-net=127.0.0.1",
    new URL("sse_server.ts", import.meta.url).pathname,
  ],
  stdout: "piped",
}).spawn();
try {
  const reader = server.stdout.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  const base = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}`;
  const rows: Row[] = [];
  for (const api of ["openai", "anthropic"] as const) {
    rows.push(...await compare(base, { api, kind: "text", count: 50_000 }));
    rows.push(...await compare(base, { api, kind: "args", count: 1_000_000 }));
  }
  rows.push(await measureMemory(base, 520_000));
  printReport(
    "Adapters: reading a reply over loopback (speed of the minimal loop = 100 %)",
    rows,
  );
} finally {
  server.kill();
  await server.stdout.cancel();
  await server.status;
}
