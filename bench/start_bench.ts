/**
 * Measures startup: `swink --version`, the import of the library, the first request of a run, and its peak memory. The
 * program is the published one, whose modules are bundled; for comparison the first request from the sources.
 *
 * Each value is the median of new processes, whose order is interleaved. The model is a server on loopback.
 *
 * @module
 */

import { createAnthropicFrames } from "../cli/demo/anthropic_frames.ts";
import { buildPackageIfChanged, packageDirectory } from "../scripts/jsr/build.ts";
import { choosePackages } from "../scripts/packages.ts";
import { fromFileUrl } from "../src/platform/paths.ts";
import { median, printReport, type Row } from "./report.ts";

const RUNS = 15;

const root = new URL("../", import.meta.url);
const { config } = await choosePackages();
await buildPackageIfChanged();

const PUBLISHED = fromFileUrl(new URL("cli/main.ts", packageDirectory));
const SOURCES = "cli/main.ts";

/** Runs `deno run` to its end; returns milliseconds. */
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
  /** Peak memory, in MB. */
  readonly megabytes: number;
}

/** Measures one `swink run` that reads a file and replies. */
async function measureFirstRequest(program: string): Promise<FirstRequest> {
  let firstRequestAt = 0;
  let requestCount = 0;
  const replies = [
    { blocks: ["I'll read it.", { tool: "read_file", input: { path: "deno.json" } }] },
    { blocks: ["It is the configuration of this project."] },
  ];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      firstRequestAt ||= performance.now();
      await request.text();
      const reply = replies[requestCount++] ?? { blocks: [] };
      const body = createAnthropicFrames(reply, requestCount).join("");
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  );
  const env = {
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.addr.port}`,
  };
  const start = performance.now();
  const process = createCommand([program, "run", "What is deno.json?"], env).spawn();
  const megabytes = await measurePeakMemory(process);
  await server.shutdown();
  return { milliseconds: firstRequestAt - start, megabytes };
}

/** Polls the peak memory of a process until it ends, in MB; `NaN` on systems without /proc. */
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
      // The process has just ended, or this is not Linux.
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
  const sourceRuns: FirstRequest[] = [];
  const emptyScript = await Deno.makeTempFile({ suffix: ".ts" });
  for (let run = 0; run < RUNS; run++) {
    empty.push(await measureTime([emptyScript]));
    version.push(await measureTime([PUBLISHED, "--version"]));
    library.push(await measureTime(["mod.ts"]));
    runs.push(await measureFirstRequest(PUBLISHED));
    sourceRuns.push(await measureFirstRequest(SOURCES));
  }
  await Deno.remove(emptyScript);
  const baseline = median(empty);
  const ms = (value: number): string => `${value.toFixed(0)} ms`;
  const ratio = (value: number): string => `${(value / baseline).toFixed(2)} ×`;
  const getFirst = (runs: readonly FirstRequest[]): number =>
    median(runs.map(({ milliseconds }) => milliseconds));
  const getPeak = (runs: readonly FirstRequest[]): string =>
    `${median(runs.map(({ megabytes }) => megabytes)).toFixed(0)} MB`;
  const [first, fromSources] = [runs, sourceRuns].map(getFirst) as [number, number];
  return [
    ["deno run of an empty script", ms(baseline), "1.00 ×", "baseline"],
    ["swink --version", ms(median(version)), ratio(median(version)), "≤ 1.1 ×"],
    ["import of mod.ts", ms(median(library)), `+ ${ms(median(library) - baseline)}`, "≤ + 30 ms"],
    ["first request of swink run", ms(first), ratio(first), "≤ 120 ms"],
    ["peak memory of swink run", getPeak(runs), "–", "≤ 75 MB"],
    ["first request, from the sources", ms(fromSources), ratio(fromSources), ""],
    ["peak memory, from the sources", getPeak(sourceRuns), "–", ""],
  ];
}

if (import.meta.main) printReport("Startup", await measureAll());
