import { assert, assertStringIncludes } from "@std/assert";
import { root, runDeno } from "../project.ts";

/** Deno itself stands in for the runtime that a compiled program is appended to, which would be downloaded. */
const env = { DENORT_BIN: Deno.execPath(), NO_COLOR: "1" };

Deno.test("the program compiles to one file that has everything it imports", async () => {
  const folder = await Deno.makeTempDir({ prefix: "swink_compile_" });
  try {
    const args = [
      "-A",
      ...await readIncludeOptions(),
      "--output",
      `${folder}/swink`,
      "cli/main.ts",
    ];
    const { success, text } = await runDeno("compile", args, env);
    assert(success, text);
    assertStringIncludes(text, "Embedded Files");
    const parts = ["program.ts", "bash.ts", "agent.ts", "anthropic", "ajv", "aws4fetch"];
    for (const part of parts) assertStringIncludes(text, part);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** What the task adds to what can be seen from the entry point. */
async function readIncludeOptions(): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const command: string = tasks.compile.command;
  return [...command.matchAll(/--include \S+/g)].flatMap(([option]) => option.split(" "));
}
