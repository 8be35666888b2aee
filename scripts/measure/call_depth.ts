/**
 * Prints the functions of the project between `agent.prompt()` and the adapter's call of `fetch`, async callers
 * included.
 *
 * The argument is the root of a checkout, by default this one. A copy of its sources is traced, so that the figures come
 * from a run.
 *
 * @module
 */

import { readShippedSources } from "./source_files.ts";
import { traceFunctions } from "./trace_functions.ts";
import type { FrameState } from "./tracer.ts";

/** Runs a traced copy of a checkout and returns the call chain at `fetch`, outermost first. */
export async function measureCallChain(root: URL): Promise<FrameState[]> {
  const directory = await Deno.makeTempDir({ prefix: "swink_call_depth_" });
  const copy = new URL(`file://${directory}/`);
  try {
    const config = await readConfig(root);
    await writeTracedCopy(config, root, copy);
    return await runTracedCopy(config, copy);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** The part of `deno.json` that the copy needs. */
interface ProjectConfig {
  imports?: Record<string, string>;
  exports: Record<string, string>;
}

async function readConfig(root: URL): Promise<ProjectConfig> {
  return JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
}

async function writeTracedCopy(
  { imports = {} }: ProjectConfig,
  root: URL,
  copy: URL,
): Promise<void> {
  await Deno.writeTextFile(new URL("deno.json", copy), JSON.stringify({ imports }));
  for (const file of await readShippedSources(root)) {
    const target = new URL(file.path, copy);
    await Deno.mkdir(new URL(".", target), { recursive: true });
    await Deno.writeTextFile(target, traceFunctions(file));
  }
}

async function runTracedCopy({ exports }: ProjectConfig, copy: URL): Promise<FrameState[]> {
  const script = new URL("call_depth_run.ts", import.meta.url);
  const modules = [".", "./adapters/openai"].map((name) => new URL(exports[name] ?? "", copy).href);
  const config = new URL("deno.json", copy).pathname;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--no-lock", "-c", config, script.href, ...modules],
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`The traced run failed: ${decoder.decode(stderr)}`);
  return JSON.parse(decoder.decode(stdout));
}

async function main([path = new URL("../..", import.meta.url).pathname]: string[]): Promise<void> {
  const chain = await measureCallChain(new URL(`file://${await Deno.realPath(path)}/`));
  for (const { name, isActive } of chain) console.log(`${isActive ? " " : "-"} ${name}`);
  const returned = chain.filter(({ isActive }) => !isActive);
  console.log(
    `${chain.length} functions from prompt() to fetch; ${returned.length} (-) had returned`,
  );
}

if (import.meta.main) await main(Deno.args);
