/**
 * `swink acp`, driven by the client `acpx`, a program for Node 24.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createDeadline } from "../deadline.ts";
import { root } from "../project.ts";
import { waitUntil } from "../wait_until.ts";
import { scriptedCall, scriptedReply } from "./fake_host.ts";
import { type MockAnswer, startMockProvider } from "./mock_provider.ts";
import { SWINK_COMMAND } from "./swink_process.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

const RUNTIMES = new URL("dist/runtimes/", root).pathname;
const NODE = `${RUNTIMES}node24/node_modules/node/bin/node`;
const ACPX = `${RUNTIMES}acpx/node_modules/acpx/dist/cli.js`;

const isInstalled = await Promise.all([NODE, ACPX].map((path) => Deno.stat(path))).then(
  () => true,
  () => false,
);

function isEmpty(directory: string): boolean {
  try {
    return [...Deno.readDirSync(directory)].length === 0;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  }
}

/** Runs `acpx` in a project; returns its exit code, its output, and the requests to the model. */
async function runAcpx(
  { answers, options = [], args, agentOptions = [] }: {
    readonly answers: readonly MockAnswer[];
    readonly options?: readonly string[];
    readonly args: readonly (readonly string[])[];
    readonly agentOptions?: readonly string[];
  },
) {
  await using provider = startMockProvider(...answers);
  await using home = await createTemporaryDirectory({ "p/a.txt": "one\n" });
  const cwd = await Deno.realPath(`${home.path}/p`);
  const agent = [...SWINK_COMMAND, "acp", ...agentOptions].map((word) => `"${word}"`).join(" ");
  const outputs: { readonly code: number; readonly text: string; readonly errors: string }[] = [];
  for (const command of args) {
    const { code, stdout, stderr } = await new Deno.Command(NODE, {
      args: [ACPX, "--agent", agent, "--cwd", cwd, ...options, ...command],
      cwd,
      clearEnv: true,
      env: {
        PATH: Deno.env.get("PATH") ?? "",
        HOME: home.path,
        DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
        NO_COLOR: "1",
        ANTHROPIC_API_KEY: "k",
        ANTHROPIC_BASE_URL: provider.url,
      },
      stdin: "null",
      signal: createDeadline(),
    }).output();
    const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    outputs.push({ code, text: decode(stdout), errors: decode(stderr) });
    // The process that acpx leaves behind refuses prompts while it ends, and still writes files.
    await waitUntil(() => isEmpty(`${home.path}/.acpx/queues`));
  }
  return { outputs, requests: [...provider.requests], file: home.read("p/a.txt") };
}

const WRITE = scriptedReply(
  "I change it.",
  scriptedCall("write_file", { path: "a.txt", content: "two\n" }),
);
const DONE = scriptedReply("It is changed.");

Deno.test({
  name: "acpx: a prompt changes a file with the approval of the client, through its file system",
  ignore: !isInstalled,
  async fn() {
    const { outputs: [run], file, requests } = await runAcpx({
      answers: [WRITE, DONE],
      options: ["--approve-all", "--format", "json", "--json-strict"],
      args: [["exec", "Change it"]],
    });
    assertEquals([run?.code, run?.errors, file], [0, "", "two\n"]);
    const messages = (run?.text ?? "").trimEnd().split("\n").map((line) => JSON.parse(line));
    const methods = new Set(messages.map(({ method }) => method));
    for (const method of ["session/request_permission", "fs/write_text_file"]) {
      assert(methods.has(method), method);
    }
    assertEquals(messages.filter(({ error }) => error !== undefined), []);
    assertEquals(messages.at(-1)?.result, { stopReason: "end_turn" });
    assertEquals(requests.length, 2);
  },
});

Deno.test({
  name: "acpx: a change that the client refuses is not made, and its text says so",
  ignore: !isInstalled,
  async fn() {
    const { outputs: [run], file, requests } = await runAcpx({
      answers: [WRITE, scriptedReply("You do not want it.")],
      options: ["--deny-all"],
      args: [["exec", "Change it"]],
    });
    assertEquals(file, "one\n");
    assertStringIncludes(run?.text ?? "", "You do not want it.");
    assertStringIncludes(requests[1] ?? "", "the user refused");
  },
});

Deno.test({
  name: "acpx: settings of the session are set before the prompt",
  ignore: !isInstalled,
  async fn() {
    const { outputs: [run], file, requests } = await runAcpx({
      answers: [WRITE, DONE],
      options: ["--approve-all"],
      args: [["exec", "--config-option", "mode=plan", "--config-option", "effort=high", "Plan it"]],
    });
    assertEquals([run?.code, file], [0, "one\n"]);
    const { tools, thinking } = JSON.parse(requests[0] ?? "{}");
    const names = tools.map(({ name }: { readonly name: string }) => name);
    assert(names.includes("write_plan") && !names.includes("write_file"), names.join());
    assert(thinking !== undefined);
  },
});

Deno.test({
  name: "acpx: the second prompt of a session has the first one in its history",
  ignore: !isInstalled,
  async fn() {
    const { outputs, requests } = await runAcpx({
      answers: [scriptedReply("Hello Ada."), scriptedReply("You are Ada.")],
      options: ["--ttl", "1", "--approve-all"],
      args: [["sessions", "new"], ["prompt", "I am Ada"], ["prompt", "Who am I?"]],
    });
    assertEquals(outputs.map(({ code, errors }) => code && errors), [0, 0, 0]);
    assertStringIncludes(outputs[2]?.text ?? "", "You are Ada.");
    assertStringIncludes(requests[1] ?? "", "I am Ada");
    assertStringIncludes(requests[1] ?? "", "Hello Ada.");
  },
});
