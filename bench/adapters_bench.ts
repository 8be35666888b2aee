/**
 * From bytes on loopback to a finished message, over the least code that reads the same: a loop over the body, a
 * split at line ends, one `JSON.parse` per event. Server and reader are processes of their own; each figure is the
 * median of warm runs, taken in turns.
 *
 * @module
 */

import { createAnthropic, createOpenAI } from "../adapters/mod.ts";
import { Agent, type StreamFn } from "../mod.ts";
import { ReplyAccumulator } from "../src/core/accumulate.ts";
import { median, printReport, type Row } from "./report.ts";

const RUNS = 9;

type Api = "openai" | "anthropic";
interface BenchCase {
  readonly api: Api;
  readonly kind: "text" | "args";
  readonly count: number;
}

/** What a hand-written loop looks at in an event. */
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

async function readByHand(url: string): Promise<number> {
  const decoder = new TextDecoder();
  const { body } = await fetch(`${url}/by-hand`, { method: "POST", body: "{}" });
  let rest = "";
  let message = "";
  for await (const bytes of body ?? []) {
    const text = rest + decoder.decode(bytes, { stream: true });
    let start = 0;
    for (let end; (end = text.indexOf("\n", start)) >= 0; start = end + 1) {
      if (text.startsWith("data: {", start)) {
        message += getDelta(JSON.parse(text.slice(start + 6, end)));
      }
    }
    rest = text.slice(start);
  }
  return message.length;
}

function streamFnOf(api: Api, baseUrl: string): StreamFn {
  const make = api === "openai" ? createOpenAI : createAnthropic;
  return make({ baseUrl, apiKey: "none" });
}

const MODELS = { openai: "openai/gpt-4o", anthropic: "anthropic/claude-sonnet-4-5" };

async function readByAdapter(api: Api, url: string): Promise<number> {
  const [provider = "", modelId = ""] = MODELS[api].split("/");
  const reply = new ReplyAccumulator();
  const events = streamFnOf(api, url)({
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

async function readByAgent(api: Api, url: string): Promise<number> {
  const agent = new Agent({ model: MODELS[api], streamFn: streamFnOf(api, url) });
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
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}

async function compare(base: string, { api, kind, count }: BenchCase): Promise<Row[]> {
  const url = `${base}/${api}/${kind}/${count}`;
  const { floor = 0, adapter = 0, agent = 0 } = await measureInterleaved({
    floor: () => readByHand(url),
    adapter: () => readByAdapter(api, url),
    ...(kind === "text" && { agent: () => readByAgent(api, url) }),
  });
  const what = `${api}, ${count.toLocaleString("en")} ${
    kind === "text" ? "deltas" : "bytes of arguments"
  }`;
  const speed = (time: number) => `${Math.round((floor / time) * 100)} %`;
  const ms = (time: number) => `${time.toFixed(1)} ms`;
  const rows: Row[] = [
    [`${what}, by hand`, ms(floor), "100 %", ""],
    [`${what}, by the adapter`, ms(adapter), speed(adapter), kind === "text" ? "≥ 60 %" : "≥ 50 %"],
  ];
  if (kind === "text") rows.push([`${what}, through the agent`, ms(agent), speed(agent), "≥ 45 %"]);
  return rows;
}

/** Memory while 100 MB go by and nothing is kept. */
async function measureMemory(base: string, deltas: number): Promise<Row> {
  const url = `${base}/openai/text/${deltas}`;
  const events = streamFnOf("openai", url)({
    model: { provider: "openai", modelId: "gpt-4o", thinkingLevel: "off" },
    context: { systemPrompt: "", messages: [], tools: [] },
    options: {},
    signal: new AbortController().signal,
  });
  let seen = 0;
  let early = 0;
  let most = 0;
  for await (const _event of events) {
    if (++seen % 5000 !== 0) continue;
    const { rss } = Deno.memoryUsage();
    if (seen < deltas / 4) early = Math.max(early, rss);
    most = Math.max(most, rss);
  }
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  return [
    "memory over 100 MB of stream",
    megabytes(most),
    `+${megabytes(most - early)} after the first quarter`,
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
    "Adapters: bytes to message over loopback, speed of the hand-written loop = 100 %",
    rows,
  );
} finally {
  server.kill();
  await server.stdout.cancel();
  await server.status;
}
