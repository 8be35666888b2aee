import { assert, assertStringIncludes } from "@std/assert";
import { root, runDeno } from "../project.ts";

/** Uses Deno itself as the runtime of the compiled program, so that none is downloaded. */
const env = { DENORT_BIN: Deno.execPath(), NO_COLOR: "1" };

Deno.test("compile: the executable contains everything the program imports", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_compile_" });
  try {
    const args = [
      "-A",
      ...await readIncludeOptions(),
      "--output",
      `${directory}/swink`,
      "cli/main.ts",
    ];
    const { success, text } = await runDeno("compile", args, env);
    assert(success, text);
    assertStringIncludes(text, "Embedded Files");
    const files = ["program.ts", "bash.ts", "agent.ts", "anthropic", "ajv", "aws4fetch"];
    for (const file of files) assertStringIncludes(text, file);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

/** Reads the `--include` options of the task `compile`, for modules that are loaded lazily. */
async function readIncludeOptions(): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const command: string = tasks.compile.command;
  return [...command.matchAll(/--include \S+/g)].flatMap(([option]) => option.split(" "));
}
