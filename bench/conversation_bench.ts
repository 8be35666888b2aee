/**
 * Measures conversations in a pseudo-terminal: the time until the prompt, the echo of keys during a reply, and the memory
 * of many turns.
 *
 * The terminal is that of `script` (util-linux). The model is a server on loopback.
 *
 * @module
 */

import { createAnthropicFrames } from "../cli/demo/anthropic_frames.ts";
import { FileSessionStore } from "../src/memory/mod.ts";
import { userMessage } from "../mod.ts";
import { assistantMessage } from "../src/testing/mod.ts";
import { choosePackages } from "../scripts/packages.ts";
import { median, printReport, type Row } from "./report.ts";

const STARTS = 9;
const ENTRIES = 20_000;
/** Text of a message; 20,000 of them are a log of 14 MB. */
const TEXT = "The quick brown fox jumps over the lazy dog. ".repeat(12).slice(0, 520);
/** Time between two keys, which is no multiple of the time between two frames. */
const KEY_MS = 47;
const KEYS = 100;
const TOKENS_PER_SECOND = 200;
const TURNS = Number(Deno.args[0] ?? 5_000);

const { config } = await choosePackages();
const main = new URL("../cli/main.ts", import.meta.url).pathname;

/** A program in a terminal. */
interface Terminal extends AsyncDisposable {
  /** Id of the process. */
  readonly pid: number;
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

/** Starts the program in a terminal of 100 columns. */
async function startTerminal(
  home: Home,
  { args = [], url = "http://127.0.0.1:1" }: { args?: readonly string[]; url?: string } = {},
): Promise<Terminal> {
  const command = [Deno.execPath(), "run", "-qA", "--no-lock", "-c", config, main, ...args]
    .map((word) => `'${word}'`).join(" ");
  const process = new Deno.Command("script", {
    args: [
      "-qefc",
      `stty cols 100 rows 30; echo $$ >'${home.path}/pid'; exec ${command}`,
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
    get pid() {
      return Number(Deno.readTextFileSync(`${home.path}/pid`));
    },
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
  await using terminal = await startTerminal(home, { args });
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

if (import.meta.main) printReport("Conversations", await measureStarts());
