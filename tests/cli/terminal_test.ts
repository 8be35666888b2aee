/**
 * The program in a terminal: keys, signals and the mode of the terminal.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedCall, scriptedReply } from "./fake_host.ts";
import { startMockProvider } from "./mock_provider.ts";
import { startSwink, type SwinkProcess } from "./swink_process.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** Starts a run whose model calls a command that requires approval. */
async function startRun() {
  const provider = startMockProvider(
    scriptedReply(scriptedCall("bash", { command: "rm a.txt" })),
    scriptedReply("Done."),
  );
  const directory = await createTemporaryDirectory({ "a.txt": "a\n" });
  const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: provider.url, NO_COLOR: "1" };
  const options = { cwd: directory.path, env, stdin: "terminal" } as const;
  const process = startSwink(["run", "Work"], options);
  return {
    process,
    directory,
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

async function type({ child }: SwinkProcess, keys: string): Promise<void> {
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(keys));
  writer.releaseLock();
}

/** Asserts that the terminal shows what is typed and reads lines. */
function assertLineMode(output: string): void {
  assertEquals(output.match(/-?\b(icanon|echo|isig)\b/g), ["isig", "icanon", "echo"]);
}

const ignore = Deno.build.os !== "linux" || !(await hasScript());

async function hasScript(): Promise<boolean> {
  const command = new Deno.Command("script", { args: ["--version"], stdout: "null" });
  return await command.output().then(({ success }) => success, () => false);
}

Deno.test(
  "terminal: keys answer a question, and keys typed before it do not",
  { ignore },
  async () => {
    await using run = await startRun();
    await type(run.process, "y\ry\r");
    await run.process.waitForText("Allow?");
    await type(run.process, "n");
    const { code, output } = await run.process.waitForExit();
    assertEquals(code, 0);
    assertEquals(run.directory.read("a.txt"), "a\n");
    assertStringIncludes(output, "Refused: you said no.");
    assertLineMode(output);
  },
);

for (
  const [name, key, expected, message] of [
    ["Ctrl+C", "\x03", 130, "swink: interrupted"],
    ["Ctrl+\\", "\x1c", 131, "swink: terminated"],
  ] as const
) {
  Deno.test(
    `terminal: ${name} at a question ends the run and restores the terminal`,
    { ignore },
    async () => {
      await using run = await startRun();
      await run.process.waitForText("Allow?");
      await type(run.process, key);
      const { code, output } = await run.process.waitForExit();
      assertEquals(code, expected);
      assertEquals(run.directory.read("a.txt"), "a\n");
      assertStringIncludes(output, message);
      assertLineMode(output);
    },
  );
}
