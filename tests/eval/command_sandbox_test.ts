import { assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../mod.ts";
import { EvaluatorRegistry, runEvalSet } from "../../src/eval/mod.ts";
import { reply, scriptedStream } from "../../src/testing/mod.ts";
import { createSandbox } from "../../src/tools/mod.ts";

/** Runs a command in the sandbox of the tools, and returns why it failed. */
async function runInSandbox(command: string): Promise<string | undefined> {
  const set = {
    id: "set",
    cases: [{
      id: "a",
      userMessages: ["Go"],
      evaluators: [{ name: "command", options: { command } }],
    }],
  };
  const makeAgent = () =>
    new Agent({ model: "test/model", streamFn: scriptedStream([reply("Done")]) });
  const evaluators = EvaluatorRegistry.createDefault({ openSandbox: createSandbox });
  const { results: [result] } = await runEvalSet(set, makeAgent, { evaluators });
  return result?.scores[0]?.reason;
}

Deno.test("command: the sandbox of the tools runs the command in the directory of the run", async () => {
  assertEquals(await runInSandbox("touch a.txt && test -f a.txt"), undefined);
});

Deno.test("command: the sandbox of the tools refuses changes outside of the directory", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_outside_" });
  try {
    const reason = await runInSandbox(`touch ${directory}/a.txt`);
    assertStringIncludes(reason ?? "", "exited with code 1");
    assertEquals(Array.from(Deno.readDirSync(directory)), []);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
