/**
 * Runs in the home directory.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

const MODEL = [
  scriptedReply(scriptedCall("bash", { command: "echo 1 > x" })),
  scriptedReply("Done."),
];
const TERMINAL = ["input", "output", "messages"] as const;

/** Runs `swink run` in the home directory. */
async function runInHome(options: FakeHostOptions, ...args: string[]) {
  await using home = await createTemporaryDirectory();
  const env = { ANTHROPIC_API_KEY: "k", NO_COLOR: "1", HOME: home.path };
  const host = createFakeHost({ model: MODEL, env, ...options });
  const code = await main(["run", "--cwd", home.path, ...args, "Work"], host);
  const results = host.requests.slice(1).map(({ body }) => body.includes("Exit code: 0"));
  return { code, host, results };
}

Deno.test("swink run: does not run in the home directory when the user cannot be asked", async () => {
  const { code, host } = await runInHome({});
  assertEquals([code, host.requests.length], [3, 0]);
  assertStringIncludes(host.messages, "contains the home directory");
  assertStringIncludes(host.messages, "select it with --cwd. --allow-home allows this one");
});

Deno.test("swink run: asks before it runs in the home directory, and then asks for each command", async () => {
  const { code, host, results } = await runInHome({ terminals: TERMINAL, answers: ["y", "y"] });
  assertEquals([code, results], [0, [true]]);
  assertStringIncludes(host.screen, "settings and keys.\n  Allow? [y]es / [n]o: yes\n");
  assertStringIncludes(host.screen, "Allow? [y]es / [n]o / [a]lways bash: yes\n");
});

for (const answers of [["n"], []]) {
  Deno.test(`swink run: does not run in the home directory after ${answers[0] ?? "no answer"}`, async () => {
    const { code, host } = await runInHome({ terminals: TERMINAL, answers });
    assertEquals([code, host.requests.length], [3, 0]);
  });
}

Deno.test("swink run: does not ask in the home directory when the question would not be seen", async () => {
  const { code, host } = await runInHome({ terminals: ["input", "output"] });
  assertEquals([code, host.requests.length], [3, 0]);
  assert(!host.screen.includes("Allow?"));
});

Deno.test("swink run: Ctrl+C ends the question in the home directory with 130", async () => {
  await using home = await createTemporaryDirectory();
  const env = { ANTHROPIC_API_KEY: "k", NO_COLOR: "1", HOME: home.path };
  const host = createFakeHost({ model: MODEL, env, terminals: TERMINAL, answers: ["", "y"] });
  host.onMessage((text) => {
    if (text.includes("Allow?")) host.sendSignal("SIGINT");
  });
  const code = await main(["run", "--cwd", home.path, "Work"], host);
  assertEquals([code, host.requests.length], [130, 0]);
});

Deno.test("swink run: does not ask with --allow-home", async () => {
  const { code, host, results } = await runInHome({}, "--allow-home", "--approve-all");
  assertEquals([code, results], [0, [true]]);
  assert(!host.screen.includes("Allow?"));
});
