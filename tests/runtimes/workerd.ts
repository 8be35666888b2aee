/**
 * Runs workers in workerd, the runtime of Cloudflare's workers.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import { createDeadline } from "../deadline.ts";
import { root, runDeno } from "../project.ts";

/** Directory of the package of workerd, and of a validator that needs no `eval`. */
const packages = new URL("dist/runtimes/workerd/node_modules/", root);

const ARCHITECTURES = { x86_64: "64", aarch64: "arm64" };

/** The program, which `scripts/install_runtimes.ts` installs. */
const program = new URL(
  `@cloudflare/workerd-${Deno.build.os}-${ARCHITECTURES[Deno.build.arch]}/bin/workerd`,
  packages,
);

/** Whether workerd is installed. */
export async function hasWorkerd(): Promise<boolean> {
  return await Deno.stat(program).then(() => true, () => false);
}

/** A worker that runs. Disposing of it ends its process. */
export interface RunningWorker extends AsyncDisposable {
  /** URL without a trailing slash. */
  readonly url: string;
}

/**
 * Starts a worker from the source of its main module, which may import the modules of the project and
 * `@cfworker/json-schema`.
 */
export async function startWorker(
  source: string,
  env: Readonly<Record<string, string>>,
): Promise<RunningWorker> {
  const directory = await Deno.makeTempDir({ prefix: "swink_worker_" });
  const modules = await bundle(source, directory);
  const config = `${directory}/config.capnp`;
  await Deno.writeTextFile(config, createConfig(modules, env));
  const child = new Deno.Command(program, {
    args: ["serve", "--control-fd=1", config],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
    signal: createDeadline(),
  }).spawn();
  const port = await readPort(child.stdout);
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await Deno.remove(directory, { recursive: true });
    },
  };
}

/** Bundles the main module, and returns the names of all modules; it is the first one. */
async function bundle(source: string, directory: string): Promise<readonly string[]> {
  const validator = new URL("@cfworker/json-schema/dist/esm/index.js", packages);
  const entry = `${directory}/entry.ts`;
  await Deno.writeTextFile(entry, source.replaceAll("@cfworker/json-schema", validator.href));
  const { success, text } = await runDeno("bundle", [
    ...["--platform", "browser", "--code-splitting", "--outdir", directory, entry],
  ]);
  if (!success) throw new Error(text);
  const names = Array.from(Deno.readDirSync(directory), ({ name }) => name);
  const isModule = (name: string) => name.endsWith(".js") && name !== "entry.js";
  return ["entry.js", ...names.filter(isModule)];
}

/** Creates the configuration, in which the worker may reach servers on this machine. */
function createConfig(
  modules: readonly string[],
  env: Readonly<Record<string, string>>,
): string {
  const list = modules.map((name) => `(name = "${name}", esModule = embed "${name}")`);
  const bindings = Object.entries(env).map(([name, value]) =>
    `(name = "${name}", text = ${JSON.stringify(value)})`
  );
  return `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [${list.join(", ")}],
  bindings = [${bindings.join(", ")}],
  compatibilityDate = "2026-01-01",
);
`;
}

/** Reads the port of the socket, which workerd reports as JSON when it listens. */
async function readPort(stdout: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<number> {
  const lines = stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  for await (const line of lines) return JSON.parse(line).port;
  throw new Error("workerd ended before it listened");
}
