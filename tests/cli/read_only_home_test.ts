/**
 * A user whose home directory cannot be written, or who has none.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createFakeHost, type FakeHostOptions, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** Runs a command line; files in the places of the program's directories cannot be written, also by the superuser. */
async function run(
  line: string,
  { home: kind, ...options }: FakeHostOptions & { readonly home: "read-only" | "none" },
) {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config": "no directory",
    ".local": "no directory",
  });
  const host = createFakeHost({
    ...options,
    env: {
      ANTHROPIC_API_KEY: "k",
      NO_COLOR: "1",
      HOME: kind === "none" ? "" : home.path,
      ...options.env,
    },
  });
  const args = line.split(" ").map((word) => word.replace("HOME", home.path));
  const code = await main(args, host);
  return {
    code,
    output: host.output,
    messages: host.messages.replaceAll(home.path, "HOME"),
  };
}

const MESSAGE = '{"role":"user","content":[{"type":"text","text":"Hi"}],"timestamp":1}\n';
'{"type":"message","message":{"role":"user","content":[{"type":"text","text":"Hi"}],"timestamp":0}}\n';
const RUN = "run --cwd HOME/p Hello";

for (const home of ["read-only", "none"] as const) {
  Deno.test(`home directory: ${home}: runs and lists work`, async () => {
    const { code, output } = await run(RUN, { home, model: [scriptedReply("Hi.")] });
    assertEquals([code, output], [0, "Hi.\n"]);
    for (const line of ["config get", "keys", "models sonnet", "rules list", "mcp list"]) {
      const { code, messages } = await run(line, { home });
      assertEquals([code, messages.includes("swink:")], [0, false], `${line}: ${messages}`);
    }
    assertEquals((await run("doctor", { home })).code, 0);
  });

  Deno.test(`home directory: ${home}: commands that keep something end with 3 and name the place`, async () => {
    const lines = [
      "config set max_turns 5",
      "config edit",
      "rules add deny bash(rm)",
      "mcp add x -- y",
      "login anthropic",
      "sessions import -",
    ];
    for (const line of lines) {
      const { code, messages } = await run(line, {
        home,
        input: line.startsWith("login") ? "sk-x\n" : MESSAGE,
        env: { EDITOR: "true" },
      });
      assertEquals(code, 3, `${line}: ${messages}`);
      const place = home === "none" ? "There is no home directory for" : "HOME/.";
      assertStringIncludes(messages, place, line);
    }
  });
}

Deno.test("home directory: a run that cannot be saved warns; without a home directory that is expected", async () => {
  const model = [scriptedReply("Hi.")];
  const readOnly = await run(RUN, { home: "read-only", model });
  assertStringIncludes(readOnly.messages, "warning: the session is not saved: ");
  const none = await run(RUN, { home: "none", model });
  assertEquals(none.messages.includes("warning"), false);
  const again = await run("run -c --cwd HOME/p Hello", { home: "none", model });
  assertEquals(again.code, 3);
});
