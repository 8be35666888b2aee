/**
 * Measures conversations in a pseudo-terminal: the time until the prompt, the echo of keys during a reply, and the memory
 * of many turns. Arguments (`starts`, `echo`, `memory`) select some of them; `TURNS` is the number of turns.
 *
 * The program is the published one. The terminal is that of `script` (util-linux). The model is a server on loopback.
 *
 * @module
 */

import { createAnthropicFrames } from "../cli/demo/anthropic_frames.ts";
import { userMessage } from "../mod.ts";
import { buildPackageIfChanged, packageDirectory } from "../scripts/jsr/build.ts";
import { choosePackages } from "../scripts/packages.ts";
import { FileSessionStore } from "../src/memory/mod.ts";
import { fromFileUrl } from "../src/platform/paths.ts";
import { assistantMessage } from "../src/testing/mod.ts";
import { serveLoopback } from "../tests/adapters/loopback.ts";
import { median, printReport, type Row } from "./report.ts";

const STARTS = 9;
const ENTRIES = 20_000;
/** Text of a message; 20,000 of them are a log of 14 MB. */
const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(12).slice(0, 520);
/** Time between two keys, which is no multiple of the time between two frames. */
const KEY_MS = 47;
const KEYS = 100;
const TOKENS_PER_SECOND = 200;
/** Duration of the reply; longer than all keys take. */
const STREAM_SECONDS = 30;
const TURNS = Number(Deno.env.get("TURNS") ?? 5_000);

const { config } = await choosePackages();
await buildPackageIfChanged();
const main = fromFileUrl(new URL("cli/main.ts", packageDirectory));

/** A program in a terminal. */
interface Terminal extends AsyncDisposable {
  /** Resolves when the output after the last call contains a text. */
  waitFor(text: string): Promise<void>;
  /** Types a text. */
  type(text: string): Promise<void>;
}

/** Directories of a user with a project. */
interface Home extends AsyncDisposable {
  readonly path: string;
}

async function createHome(): Promise<Home> {
  const path = await Deno.makeTempDir({ prefix: "swink_bench_" });
  await Deno.mkdir(`${path}/p`);
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

interface TerminalOptions {
  /** Arguments of the program. */
  readonly args?: readonly string[];
  /** Options of Deno. */
  readonly flags?: readonly string[];
  /** URL of the model. */
  readonly url?: string;
}

/** Starts the program in a terminal of 100 columns. */
function startTerminal(
  home: Home,
  { args = [], flags = [], url = "http://127.0.0.1:1" }: TerminalOptions = {},
): Terminal {
  const deno = [Deno.execPath(), "run", "-qA", "--no-lock", "-c", config, ...flags];
  const command = [...deno, main, ...args]
    .map((word) => `'${word}'`).join(" ");
  const process = new Deno.Command("script", {
    args: [
      "-qefc",
      `stty cols 100 rows 30; exec ${command}`,
      "/dev/null",
    ],
    cwd: `${home.path}/p`,
    env: {
      HOME: home.path,
      XDG_STATE_HOME: `${home.path}/state`,
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
      TERM: "xterm-256color",
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_BASE_URL: url,
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = process.stdin.getWriter();
  let unread = "";
  let onOutput = Promise.withResolvers<void>();
  let isEnded = false;
  const reading = (async () => {
    for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
      unread = (unread + text).slice(-200_000);
      onOutput.resolve();
      onOutput = Promise.withResolvers();
    }
    isEnded = true;
    onOutput.resolve();
  })();
  return {
    async waitFor(text) {
      for (;;) {
        const start = unread.indexOf(text);
        if (start >= 0) {
          unread = unread.slice(start + text.length);
          return;
        }
        if (isEnded) throw new Error(`The program has ended before ${JSON.stringify(text)}`);
        await onOutput.promise;
      }
    },
    type: (text) => writer.write(new TextEncoder().encode(text)),
    async [Symbol.asyncDispose]() {
      await writer.write(new TextEncoder().encode("\x11"));
      await process.status;
      await reading;
      await writer.close().catch(() => {});
    },
  };
}

/** Measures the time until the prompt, and until the agent is ready. */
async function measureStart(
  home: Home,
  args: readonly string[],
): Promise<{ readonly prompt: number; readonly agent: number }> {
  const startedAt = performance.now();
  await using terminal = startTerminal(home, { args });
  await terminal.waitFor("›");
  const prompt = performance.now() - startedAt;
  await terminal.waitFor("EXECUTE");
  return { prompt, agent: performance.now() - startedAt };
}

/** Measures the time of a terminal in which a program writes at once. */
async function measureTerminal(): Promise<number> {
  const startedAt = performance.now();
  await new Deno.Command("script", {
    args: ["-qefc", "stty cols 100 rows 30; echo", "/dev/null"],
    stdin: "null",
    stdout: "null",
  }).output();
  return performance.now() - startedAt;
}

async function createLongSession(home: Home): Promise<void> {
  const store = new FileSessionStore({ directory: `${home.path}/state/swink/sessions` });
  const session = await store.create({ cwd: await Deno.realPath(`${home.path}/p`) });
  for (let count = 0; count < ENTRIES; count++) {
    const message = count % 2 === 0 ? userMessage(TEXT) : assistantMessage(TEXT);
    session.append({ type: "message", message });
    if (count % 1_000 === 999) await session.flush();
  }
  await session.close();
}

async function measureStarts(): Promise<Row[]> {
  await using home = await createHome();
  await using longHome = await createHome();
  await createLongSession(longHome);
  const terminals: number[] = [];
  const fresh: { readonly prompt: number; readonly agent: number }[] = [];
  const resumed: typeof fresh = [];
  for (let run = -1; run < STARTS; run++) {
    const terminal = await measureTerminal();
    const first = await measureStart(home, []);
    const second = await measureStart(longHome, ["-c"]);
    if (run < 0) continue;
    terminals.push(terminal);
    fresh.push(first);
    resumed.push(second);
  }
  const baseline = median(terminals);
  const format = (values: readonly number[]) => `${(median(values) - baseline).toFixed(0)} ms`;
  return [
    ["prompt of a new conversation", format(fresh.map(({ prompt }) => prompt)), "–", "≤ 150 ms"],
    ["agent of a new conversation", format(fresh.map(({ agent }) => agent)), "–", "–"],
    [
      "prompt with a session of 20,000 entries",
      format(resumed.map(({ prompt }) => prompt)),
      "–",
      "≤ 150 ms",
    ],
    ["agent with this session", format(resumed.map(({ agent }) => agent)), "–", "–"],
  ];
}

/** Measures the time from a key to its character on the screen while a reply is streamed. */
async function measureEcho(): Promise<Row[]> {
  await using home = await createHome();
  await using server = serveLoopback(() => streamText(TOKENS_PER_SECOND, STREAM_SECONDS));
  await using terminal = startTerminal(home, { url: server.url });
  await terminal.waitFor("EXECUTE");
  await terminal.type("Begin\r");
  await terminal.waitFor("writing");
  const times: number[] = [];
  for (let key = 0; key < KEYS; key++) {
    await new Promise((resolve) => setTimeout(resolve, KEY_MS));
    // Each character is typed once, and no reply has it.
    const character = String.fromCodePoint(0x4e00 + key);
    const startedAt = performance.now();
    await terminal.type(character);
    await terminal.waitFor(character);
    times.push(performance.now() - startedAt);
  }
  const sorted = times.toSorted((left, right) => left - right);
  const percentile = (share: number) => (sorted[Math.floor(share * (KEYS - 1))] ?? 0).toFixed(1);
  await terminal.type("\x03");
  return [
    ["echo of a key during a reply, median", `${percentile(0.5)} ms`, "–", "≤ 16 ms"],
    ["echo of a key, 95 of 100 keys", `${percentile(0.95)} ms`, "–", "≤ 16 ms"],
  ];
}

/** Streams words with Markdown. */
function streamText(tokensPerSecond: number, seconds: number): Response {
  const words = "The **quick** brown fox jumps over `the` lazy dog. ".split(/(?<= )/);
  const count = tokensPerSecond * seconds;
  const blocks = [Array.from({ length: count }, (_, word) => words[word % words.length]).join("")];
  const [start = "", blockStart = "", ...rest] = createAnthropicFrames({ blocks }, 1);
  const end = rest.slice(-3);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(encoder.encode(start + blockStart));
      try {
        for (let word = 0; word < count; word++) {
          const lineEnd = word % 60 === 59 ? "\n\n" : "";
          const delta = { type: "text_delta", text: `${words[word % words.length]}${lineEnd}` };
          const data = JSON.stringify({ type: "content_block_delta", index: 0, delta });
          controller.enqueue(encoder.encode(`event: content_block_delta\ndata: ${data}\n\n`));
          await new Promise((resolve) => setTimeout(resolve, 1_000 / tokensPerSecond));
        }
        controller.enqueue(encoder.encode(end.join("")));
        controller.close();
      } catch {
        // The program has ended.
      }
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** How the turns of a conversation begin: the model calls a tool in each, or the user writes a prompt for each. */
type TurnStart = "tool" | "prompt";

/** Measures the memory of the objects that are in use, which the debugger reads after a garbage collection. */
async function measureMemory(start: TurnStart): Promise<Row[]> {
  await using home = await createHome();
  await Deno.writeTextFile(`${home.path}/p/a.txt`, "A line\n".repeat(10));
  let turns = 0;
  const samples: { readonly turn: number; readonly memory: number; readonly history: number }[] =
    [];
  const ended = Promise.withResolvers<void>();
  const port = findPort();
  await using server = serveLoopback(async (request) => {
    await request.body?.cancel();
    turns++;
    if (turns % (TURNS / 5) === 0) {
      samples.push({ turn: turns, memory: await readHeap(port), history: await readHistory(home) });
    }
    const isLast = turns >= TURNS;
    if (isLast) ended.resolve();
    const call = { tool: "read_file", input: { path: "a.txt", offset: 1 + turns % 9 } };
    const blocks = isLast || start === "prompt" ? [`Reply ${turns}.`] : [call];
    const reply = { blocks, inputTokens: 1_000, outputTokens: 20 };
    const frames = createAnthropicFrames(reply, turns).join("");
    return new Response(frames, { headers: { "content-type": "text/event-stream" } });
  }, 3_600_000);
  const args = ["--max-turns", `${TURNS + 1}`];
  await using terminal = startTerminal(home, {
    args,
    flags: [`--inspect=127.0.0.1:${port}`],
    url: server.url,
  });
  await terminal.waitFor("EXECUTE");
  const startedAt = performance.now();
  if (start === "tool") await terminal.type("Begin\r");
  for (let turn = 1; start === "prompt" && turn <= TURNS; turn++) {
    await terminal.type(`Prompt ${turn}\r`);
    await terminal.waitFor(`Reply ${turn}.`);
    await terminal.waitFor("1 turn");
  }
  await ended.promise;
  const seconds = (performance.now() - startedAt) / 1_000;
  // The first fifth includes code that V8 compiles while it is used more often.
  const [first, last] = [samples[1], samples.at(-1)];
  const perTurn = (name: "memory" | "history") =>
    first && last ? (last[name] - first[name]) / (last.turn - first.turn) : Number.NaN;
  const format = (bytes: number) => `${(bytes / 1_024).toFixed(2)} KB`;
  return [
    [`time of ${TURNS} turns, each with a ${start}`, `${seconds.toFixed(1)} s`, "–", "–"],
    ...samples.map(({ turn, memory }): Row => [
      `memory after ${turn} turns`,
      `${(memory / 1_048_576).toFixed(1)} MB`,
      "–",
      "–",
    ]),
    ["growth of the log per turn", format(perTurn("history")), "1.00 ×", "baseline"],
    [
      "growth of the memory per turn",
      format(perTurn("memory")),
      `${(perTurn("memory") / perTurn("history")).toFixed(2)} ×`,
      "–",
    ],
  ];
}

/** Returns a port of the loopback interface that no program uses. */
function findPort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Reads the size of the heap of a program after a garbage collection, by the protocol of its debugger. */
async function readHeap(port: number): Promise<number> {
  const [target] = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  socket.onerror = reject;
  socket.onopen = () => {
    socket.send(JSON.stringify({ id: 1, method: "HeapProfiler.collectGarbage" }));
    socket.send(JSON.stringify({ id: 2, method: "Runtime.getHeapUsage" }));
  };
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data);
    if (id === 2) resolve(result.usedSize);
  };
  try {
    return await promise;
  } finally {
    socket.close();
  }
}

async function readHistory(home: Home): Promise<number> {
  const directory = `${home.path}/state/swink/sessions`;
  let size = 0;
  for await (const { name } of Deno.readDir(directory)) {
    if (name.endsWith(".jsonl")) size += (await Deno.stat(`${directory}/${name}`)).size;
  }
  return size;
}

const BENCHMARKS: Readonly<Record<string, () => Promise<Row[]>>> = {
  starts: measureStarts,
  echo: measureEcho,
  memory: async () => [...await measureMemory("tool"), ...await measureMemory("prompt")],
};

if (import.meta.main) {
  const names = Deno.args.filter((name) => name in BENCHMARKS);
  for (const name of names.length === 0 ? Object.keys(BENCHMARKS) : names) {
    printReport(`Conversations: ${name}`, await BENCHMARKS[name]?.() ?? []);
  }
}
