import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "../../src/platform/paths.ts";
import { createDeadline } from "../deadline.ts";
import { root } from "../project.ts";
import { createTestApp, isInstalled, PACKAGES_DIRECTORY, RUNTIMES } from "./runtimes.ts";
import { buildPackageOnce, getSharedApp } from "./shared_app.ts";

const PROGRAM = fromFileUrl(new URL("scripts/npm/swink.js", root));

/** Takes the place of Deno: prints its path, or names the first signal and ends, or ends after some seconds without one. */
const FAKE_DENO = `#!/bin/sh
case "$1" in eval) echo "{\\"path\\":\\"$0\\",\\"env\\":{\\"PATH\\":\\"$PATH\\",\\"SET\\":\\"$SET\\"}}"; exit;; esac
for signal in TERM INT HUP QUIT; do trap "echo $signal; exit 9" "$signal"; done
echo "started $SET"
for round in $(seq 200); do sleep 0.05; done
`;

/** Ends at a signal without its program, as the script of the npm package deno. */
const DENO_IN_SCRIPT = `#!/bin/sh
echo "Uses deno 2.9"
export SET=by_script
"$(dirname "$0")/real_deno" "$@"
exit $?
`;

interface SignalOptions {
  readonly script: string;
  readonly signal?: Deno.Signal;
}

/** Runs the program with a shell script as its Deno, and sends a signal to it, not to its group. */
async function runWithSignal(
  program: string,
  { script, signal }: SignalOptions,
): Promise<{ readonly code: number; readonly text: string }> {
  const directory = await Deno.makeTempDir({ prefix: "swink_npm_program_" });
  try {
    await Deno.writeTextFile(`${directory}/deno`, script, { mode: 0o755 });
    await Deno.writeTextFile(`${directory}/real_deno`, FAKE_DENO, { mode: 0o755 });
    const process = new Deno.Command(program, {
      args: [PROGRAM, "serve"],
      env: { PATH: `${directory}:${Deno.env.get("PATH")}` },
      stdin: "null",
      stdout: "piped",
      signal: createDeadline(),
    }).spawn();
    let text = "";
    for await (const part of process.stdout.pipeThrough(new TextDecoderStream())) {
      if (text === "" && signal) process.kill(signal);
      text += part;
    }
    return { code: (await process.status).code, text };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Writes the program as `npm install --global` does: without a project around it, and with a package that it imports. */
async function installGlobally(directory: string): Promise<string> {
  const location = `${directory}/lib/node_modules/@swink/agent`;
  const files = {
    "package.json": '{ "name": "@swink/agent", "type": "module" }',
    "bin/swink.js": await Deno.readTextFile(PROGRAM),
    "cli/main.js": 'import { text } from "other";\nconsole.log(text, ...Deno.args);\n',
    "node_modules/other/package.json": '{ "name": "other", "type": "module", "exports": "./x.js" }',
    "node_modules/other/x.js": 'export const text = "other";\n',
  };
  for (const [path, text] of Object.entries(files)) {
    const file = `${location}/${path}`;
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(file, text);
  }
  return `${location}/bin/swink.js`;
}

for (const runtime of RUNTIMES) {
  Deno.test({
    name:
      `npm package, ${runtime.name}: swink finds its packages when it is installed globally, and ignores settings of Deno above it`,
    ignore: !isInstalled(runtime),
    async fn() {
      const directory = await Deno.makeTempDir({ prefix: "swink_npm_global_" });
      try {
        const program = await installGlobally(directory);
        const run = async () => {
          const { stdout, stderr } = await new Deno.Command(runtime.program, {
            args: [program, "config", "get"],
            cwd: directory,
            env: { PATH: Deno.execPath().replace(/[^/]*$/, "") },
            stdin: "null",
            signal: createDeadline(),
          }).output();
          return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
        };
        assertEquals(await run(), "other config get\n");
        await Deno.writeTextFile(`${directory}/deno.json`, "invalid");
        assertEquals(await run(), "other config get\n");
      } finally {
        await Deno.remove(directory, { recursive: true });
      }
    },
  });

  Deno.test({
    name:
      `npm package, ${runtime.name}: a signal to the program alone reaches the deno program, whose exit code is kept`,
    ignore: !isInstalled(runtime),
    async fn() {
      for (const name of ["TERM", "INT", "HUP", "QUIT"] as const) {
        const result = await runWithSignal(runtime.program, {
          script: FAKE_DENO,
          signal: `SIG${name}`,
        });
        assertEquals(result, { code: 9, text: `started \n${name}\n` });
      }
      const signal = "SIGTERM";
      const inScript = await runWithSignal(runtime.program, { script: DENO_IN_SCRIPT, signal });
      assertEquals(inScript, { code: 9, text: "started by_script\nTERM\n" });
      const killed = await runWithSignal(runtime.program, { script: "#!/bin/sh\nkill -KILL $$\n" });
      assertEquals(killed.code, 137);
    },
  });
}

const hasPackages = await Deno.stat(PACKAGES_DIRECTORY).then(() => true, () => false);

const READ_PDF = `
import { startIsolatedWorker } from "./node_modules/@swink/agent/src/tools/process/isolated_worker.js";

const module = new URL("./node_modules/@swink/agent/src/tools/documents/pdf_worker.js", import.meta.url);
const worker = startIsolatedWorker(module);
worker.onMessage(async (message) => {
  if (message === "ready") return worker.postMessage({ bytes: new TextEncoder().encode("no document") });
  console.log(message.type);
  await worker.terminate();
});
`;

Deno.test({
  name:
    "npm package: on Deno, the process that reads a document finds its package without a network",
  ignore: !hasPackages,
  async fn() {
    const { path } = await getSharedApp();
    await Deno.writeTextFile(`${path}/read_pdf.js`, READ_PDF);
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-config", "--no-lock", "--node-modules-dir=manual", "read_pdf.js"],
      cwd: path,
      env: { DENO_DIR: `${path}/cache`, NPM_CONFIG_REGISTRY: "http://127.0.0.1:1/" },
      stdin: "null",
      signal: createDeadline(),
    }).output();
    assertEquals(new TextDecoder().decode(stdout), "failed\n");
  },
});

const READ_PDF_IN_BUNDLE = `
import { startIsolatedWorker } from "./node_modules/@swink/agent/src/tools/process/isolated_worker.js";

const worker = startIsolatedWorker(new URL("../../tools/documents/pdf_worker.js", import.meta.url));
worker.onError(console.log);
`;

Deno.test({
  name: "npm package: a bundle with the library reports that its processes need the package",
  ignore: !hasPackages,
  async fn() {
    const { path } = await getSharedApp();
    await Deno.writeTextFile(`${path}/read_in_bundle.js`, READ_PDF_IN_BUNDLE);
    const run = async (...args: string[]) => {
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args,
        cwd: path,
        env: { NO_COLOR: "1" },
        stdin: "null",
        signal: createDeadline(),
      }).output();
      return new TextDecoder().decode(stdout);
    };
    const flags = ["--no-config", "--no-lock", "--node-modules-dir=manual"];
    const bundle = "a/b/c/bundle.js";
    await run("bundle", "--quiet", ...flags, "--output", bundle, "read_in_bundle.js");
    assertEquals(
      await run("run", "-A", ...flags, bundle),
      "its process could not start (exit code 1); a bundle needs the package @swink/agent outside of it\n",
    );
  },
});

Deno.test({
  name: "npm package: swink says what to install for MCP servers and editors",
  ignore: !hasPackages,
  async fn() {
    await buildPackageOnce();
    await using app = await createTestApp();
    const { path } = app;
    for (const scope of ["@modelcontextprotocol", "@agentclientprotocol"]) {
      await Deno.remove(`${path}/node_modules/${scope}`);
    }
    const servers = JSON.stringify({ mcpServers: { files: { command: "cat" } } });
    await Deno.writeTextFile(`${path}/servers.json`, servers);
    const swink = async (...args: string[]) => {
      const { code, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "node_modules/@swink/agent/bin/swink.js", ...args],
        cwd: path,
        env: { HOME: path, NO_COLOR: "1", ANTHROPIC_API_KEY: "key" },
        stdin: "null",
        signal: createDeadline(),
      }).output();
      return { code, text: new TextDecoder().decode(stderr) };
    };
    const describe = (subject: string, name: string) =>
      `${subject} need the npm package ${name}: npm install ${name}, with --global if swink is installed globally\n`;
    const client = describe("MCP servers", "@modelcontextprotocol/client");
    assertEquals(await swink("mcp", "test"), { code: 3, text: `swink: ${client}` });
    const model = ["-m", "anthropic/claude-sonnet-5-5", "--base-url", "http://127.0.0.1:1"];
    const run = await swink(
      "run",
      "--allow-home",
      ...model,
      "--mcp-config",
      "servers.json",
      "Hello",
    );
    assertStringIncludes(run.text.replaceAll(/\s/g, " "), `warning: ${client.trim()} `);
    const sdk = describe("Editors", "@agentclientprotocol/sdk");
    assertEquals(await swink("acp"), { code: 3, text: `swink: ${sdk}` });
  },
});

const CREATE_TOOL = `
import { isolatedTool } from "@swink/agent/tools";

const tool = await isolatedTool({ module: new URL("./packaged_tool.js", import.meta.url) });
console.log(tool.description);
`;

const TOOL = `
import { defineTool } from "@swink/agent";
import { stringify } from "yaml";

export default defineTool({
  name: "probe",
  description: stringify({ package: "yaml" }).trim(),
  parameters: { type: "object", properties: {} },
  execute: () => "done",
});
`;

Deno.test({
  name: "npm package: an isolated tool imports the library and another installed package",
  ignore: !hasPackages,
  async fn() {
    const { path } = await getSharedApp();
    await Deno.writeTextFile(`${path}/create_tool.js`, CREATE_TOOL);
    await Deno.writeTextFile(`${path}/packaged_tool.js`, TOOL);
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-config",
        "--no-lock",
        "--node-modules-dir=manual",
        "create_tool.js",
      ],
      cwd: path,
      env: { DENO_DIR: `${path}/cache`, NPM_CONFIG_REGISTRY: "http://127.0.0.1:1/" },
      stdin: "null",
      signal: createDeadline(),
    }).output();
    assertEquals(new TextDecoder().decode(stdout), "package: yaml\n");
  },
});
