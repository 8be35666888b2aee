/**
 * How soon the program is there: its version, the library's import, the first request of a run, and the memory of
 * that run. Every figure is the median of fresh processes, taken in turns; the model is a server on loopback.
 *
 * @module
 */

import { choosePackages } from "../scripts/packages.ts";
import { createAnthropicFrames } from "../cli/demo/anthropic_frames.ts";
import { median, printReport, type Row } from "./report.ts";

const RUNS = 15;

const root = new URL("../", import.meta.url);
const { config } = await choosePackages();

/** Runs Deno on some code of the project to its end; milliseconds from start to end. */
async function measureTime(args: readonly string[]): Promise<number> {
  const start = performance.now();
  const { success } = await createCommand(args).output();
  if (!success) throw new Error(`deno ${args.join(" ")} failed`);
  return performance.now() - start;
}

function createCommand(args: readonly string[], env: Record<string, string> = {}): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", "-c", config, ...args],
    cwd: root,
    env,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  });
}

interface FirstRequest {
  /** Milliseconds from the start of the program to its first request. */
  readonly milliseconds: number;
  /** The most memory that it held, in MB. */
  readonly megabytes: number;
}

/** One `swink run` that reads a file and answers. */
async function measureFirstRequest(): Promise<FirstRequest> {
  let first = 0;
  let asked = 0;
  const replies = [
    { blocks: ["I'll look.", { tool: "read_file", input: { path: "deno.json" } }] },
    { blocks: ["It is the configuration of this project."] },
  ];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      first ||= performance.now();
      await request.text();
      const reply = replies[asked++] ?? { blocks: [] };
      const body = createAnthropicFrames(reply, asked).join("");
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  );
  const env = {
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
  };
  const start = performance.now();
  const process = createCommand(["cli/main.ts", "run", "What is deno.json?"], env).spawn();
  const megabytes = await measurePeakMemory(process);
  await server.shutdown();
  return { milliseconds: first - start, megabytes };
}

/** The high-water mark of a process, looked at until it has ended; `NaN` where there is no /proc. */
async function measurePeakMemory(process: Deno.ChildProcess): Promise<number> {
  let kilobytes = Number.NaN;
  let ended = false;
  const end = process.status.then(() => {
    ended = true;
  });
  while (!ended) {
    try {
      const status = Deno.readTextFileSync(`/proc/${process.pid}/status`);
      kilobytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? kilobytes);
    } catch {
      // It has just ended, or this is not Linux.
    }
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 10))]);
  }
  return kilobytes / 1024;
}

async function measureAll(): Promise<Row[]> {
  const empty: number[] = [];
  const version: number[] = [];
  const library: number[] = [];
  const runs: FirstRequest[] = [];
  const nothing = await Deno.makeTempFile({ suffix: ".ts" });
  for (let run = 0; run < RUNS; run++) {
    empty.push(await measureTime([nothing]));
    version.push(await measureTime(["cli/main.ts", "--version"]));
    library.push(await measureTime(["mod.ts"]));
    runs.push(await measureFirstRequest());
  }
  await Deno.remove(nothing);
  const floor = median(empty);
  const ms = (figure: number): string => `${figure.toFixed(0)} ms`;
  const ratio = (figure: number): string => `${(figure / floor).toFixed(2)} ×`;
  const first = median(runs.map(({ milliseconds }) => milliseconds));
  const peak = median(runs.map(({ megabytes }) => megabytes));
  return [
    ["an empty deno run", ms(floor), "1.00 ×", "the floor"],
    ["swink --version", ms(median(version)), ratio(median(version)), "≤ 2 ×"],
    ["import of mod.ts", ms(median(library)), `+ ${ms(median(library) - floor)}`, "≤ + 30 ms"],
    ["first request of swink run", ms(first), ratio(first), "≤ 150 ms"],
    ["peak memory of swink run", `${peak.toFixed(0)} MB`, "–", "≤ 90 MB"],
  ];
}

if (import.meta.main) printReport("Start", await measureAll());
