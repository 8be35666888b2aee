/**
 * Compares `swink` with other agents for the command line: `deno task compare:programs`.
 *
 * Each program answers one prompt of a local model server, in a repository with instructions. Every figure is the smallest
 * of several new processes, whose order is interleaved, since other programs on the machine only add to it. The programs
 * are downloaded from npm once, 1 GB, into the directory in `SWINK_COMPARED_PROGRAMS` or a temporary one; they run on the
 * Node 24 of `scripts/install_runtimes.ts` if it is installed. Arguments select programs by the beginning of their names.
 *
 * @module
 */

import { buildPackageIfChanged, packageDirectory } from "../../scripts/jsr/build.ts";
import { dirname, join } from "../../src/platform/paths.ts";
import { type ModelServer, startModelServer } from "./programs/model_server.ts";
import { measurePeakMemory } from "./programs/process_memory.ts";
import {
  createSwink,
  OTHER_PROGRAMS,
  type Program,
  type ProgramPlace,
} from "./programs/programs.ts";

const RUNS = 3;

/** Instructions of the project; each program reads one of these files. */
const INSTRUCTIONS = "- Write plain code.\n".repeat(40);
const INSTRUCTION_FILES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];

const root = new URL("../../", import.meta.url);

/** One headless turn. */
interface Turn {
  /** Milliseconds from the start to the end of the program. */
  readonly total: number;
  /** Milliseconds from the start of the program to its first request. */
  readonly firstRequest: number;
  /** Bytes of the first request. */
  readonly bytes: number;
  /** Peak memory of its largest process, in MB. */
  readonly megabytes: number;
}

/** A program that is ready to run. */
interface InstalledProgram extends Program {
  readonly place: ProgramPlace;
  readonly versions: number[];
  readonly turns: Turn[];
}

function createCommand(
  { command, env, place }: InstalledProgram,
  args: readonly string[],
): Deno.Command {
  const [program = "", ...first] = command(place);
  return new Deno.Command(program, {
    args: [...first, ...args],
    cwd: join(place.home, "project"),
    // With the cache of Deno, which is elsewhere than the home directory of the program.
    env: { ...env(place), HOME: place.home, PATH: searchPath, DENO_DIR: denoDir },
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  });
}

async function measureVersion(program: InstalledProgram): Promise<number> {
  const start = performance.now();
  await createCommand(program, ["--version"]).output();
  return performance.now() - start;
}

async function measureTurn(program: InstalledProgram, server: ModelServer): Promise<Turn> {
  const start = performance.now();
  const process = createCommand(program, program.prompt(program.place)).spawn();
  const errors = new Response(process.stderr).text();
  const megabytes = await measurePeakMemory(process);
  const total = performance.now() - start;
  const [first] = server.takeRequests();
  const { success } = await process.status;
  if (!success || !first) throw new Error(`${program.name} did not answer: ${await errors}`);
  return { total, firstRequest: first.at - start, bytes: first.bytes, megabytes };
}

async function runProgram(program: string, args: readonly string[], cwd: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, { args: [...args], cwd }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

async function writeFiles(
  directory: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = join(directory, path);
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeTextFile(file, text);
  }
}

/** Installs a program unless it is installed, and gives it a home directory with a repository. */
async function installProgram(
  program: Program,
  { directory, url }: { readonly directory: string; readonly url: string },
): Promise<InstalledProgram> {
  const own = join(directory, program.name.replace(/\W+/g, "_"));
  const place = { packages: join(own, "node_modules"), home: join(own, "home"), url };
  const project = join(place.home, "project");
  const texts = INSTRUCTION_FILES.map((name) => [name, INSTRUCTIONS]);
  await writeFiles(project, Object.fromEntries(texts));
  const files = Object.entries(program.files?.(place) ?? {});
  const encoded = files.map(([path, content]) => [path, JSON.stringify(content)]);
  await writeFiles(place.home, Object.fromEntries(encoded));
  await runProgram("git", ["init", "-q"], project);
  if (program.npm !== undefined && !await isDirectory(place.packages)) {
    await writeFiles(own, { "package.json": "{}" });
    await runProgram("npm", ["install", "--ignore-scripts", "--no-audit", program.npm], own);
  }
  return { ...program, place, versions: [], turns: [] };
}

async function isDirectory(path: string): Promise<boolean> {
  return await Deno.stat(path).then((status) => status.isDirectory, () => false);
}

function formatRow({ name, npm, versions, turns }: InstalledProgram): string {
  const pick = (select: (turn: Turn) => number) => Math.min(...turns.map(select));
  const cells = [
    npm ? `${name} (${npm.replace(/.*@/, "")})` : name,
    `${Math.min(...versions).toFixed(0)} ms`,
    `${pick((turn) => turn.firstRequest).toFixed(0)} ms`,
    `${pick((turn) => turn.total).toFixed(0)} ms`,
    `${pick((turn) => turn.megabytes).toFixed(0)} MB`,
    `${(pick((turn) => turn.bytes) / 1024).toFixed(1)} KB`,
  ];
  return `| ${cells.join(" | ")} |`;
}

/** The cache of Deno, which is elsewhere than the home directory of a program. */
const denoDir = Deno.env.get("DENO_DIR") ?? join(Deno.env.get("HOME") ?? "", ".cache/deno");

/** The search path of the programs, with the Node that the newest of them need. */
const searchPath = [
  new URL("dist/runtimes/node24/node_modules/node/bin", root).pathname,
  Deno.env.get("PATH") ?? "",
].join(":");

if (import.meta.main) {
  await buildPackageIfChanged();
  await using server = startModelServer();
  const directory = Deno.env.get("SWINK_COMPARED_PROGRAMS") ??
    await Deno.makeTempDir({ prefix: "swink_programs_" });
  const isSelected = ({ name }: Program) =>
    Deno.args.length === 0 || Deno.args.some((start) => name.startsWith(start));
  const programs: InstalledProgram[] = [];
  for (
    const program of [createSwink(packageDirectory), ...OTHER_PROGRAMS]
  ) {
    if (!isSelected(program)) continue;
    programs.push(await installProgram(program, { directory, url: server.url }));
  }
  for (let run = 0; run <= RUNS; run++) {
    for (const program of programs) {
      const [version, turn] = [await measureVersion(program), await measureTurn(program, server)];
      if (run === 0) continue; // It creates the files of the program.
      program.versions.push(version);
      program.turns.push(turn);
    }
  }
  const header = ["program", "--version", "first request", "turn", "memory", "first request, size"];
  console.log(`| ${header.join(" | ")} |\n| ${header.map(() => "---").join(" | ")} |`);
  for (const program of programs) console.log(formatRow(program));
}
