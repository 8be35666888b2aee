import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent, type AgentTool } from "../../../mod.ts";
import { BadRequestError } from "../../../src/core/errors/errors.ts";
import { DirectorySnapshot } from "../../../src/patch/mod.ts";
import { isDeno } from "../../../src/platform/system.ts";
import { checkEvents, reply, scriptedStream, toolCall } from "../../../src/testing/mod.ts";
import { codingTools, createSandbox } from "../../../src/tools/mod.ts";
import { withDirectory } from "./temporary_directory.ts";

/** Creates an agent with coding tools, which makes these calls, one per turn. */
function createCodingAgent(
  cwd: string,
  calls: readonly (readonly [name: string, args: Record<string, unknown>])[],
): Agent {
  const replies = calls.map(([name, args]) => reply([toolCall(name, args)]));
  return new Agent({
    model: "test/model",
    streamFn: scriptedStream([...replies, reply("Done.")]),
    tools: codingTools({ cwd }),
  });
}

/** Resolves when the next call of a tool has settled, also if the run does not await it any longer. */
function waitForExecution(agent: Agent, name: string): Promise<void> {
  return new Promise((resolve) => {
    const { tools } = agent.state;
    agent.setTools(tools.map((tool) => {
      if (tool.name !== name) return tool;
      const execute: AgentTool["execute"] = (args, context) => {
        const result = tool.execute(args, context);
        result.then(() => resolve(), () => resolve());
        return result;
      };
      return { ...tool, execute };
    }));
  });
}

function getResultTexts({ state: { messages } }: Agent): string[] {
  return messages.flatMap((message) =>
    message.role === "tool_result"
      ? message.content.flatMap((block) => block.type === "text" ? block.text : [])
      : []
  );
}

Deno.test("library: an agent writes, reads, edits, lists and searches files and runs commands", () =>
  withDirectory(async (directory) => {
    using snapshot = await DirectorySnapshot.take(directory);
    const agent = createCodingAgent(directory, [
      ["write_file", { path: "src/a.txt", content: "one\ntwo\n" }],
      ["read_file", { path: "src/a.txt" }],
      ["edit_file", { path: "src/a.txt", edits: [{ old_string: "two", new_string: "three" }] }],
      ["list_directory", { path: "." }],
      ["search_files", { pattern: "(t+)+hree" }],
      ["bash", { command: "cd src && cat a.txt && echo problem >&2; exit 3" }],
      ["bash", { command: "pwd" }],
    ]);
    await checkEvents(agent.promptStream("Go"));

    const texts = getResultTexts(agent);
    assertEquals(texts.length, 7);
    const [, read = "", , list = "", found = "", command = "", next = ""] = texts;
    assertStringIncludes(read, "two");
    assertStringIncludes(list, "src/");
    assertMatch(found, /a\.txt[\s\S]*three/);
    assertMatch(command, /^Exit code: 3\none\nthree\nproblem\n/);
    assertMatch(next, /\/src$/m);
    const patch = new TextDecoder().decode((await snapshot.createPatch()).bytes);
    assertStringIncludes(patch, "+++ b/src/a.txt\n@@ -0,0 +1,2 @@\n+one\n+three\n");
  }));

Deno.test("library: an abort ends a command and its children", () =>
  withDirectory(async (directory) => {
    const command = "sleep 60 & echo $! > pid; echo started; wait";
    const agent = createCodingAgent(directory, [["bash", { command }]]);
    const settled = waitForExecution(agent, "bash");
    agent.subscribe((event) => {
      if (event.type === "tool_execution_update") agent.abort();
    });
    const { stopReason } = await agent.prompt("Go");
    assertEquals(stopReason, "aborted");
    // On a busy machine the run ends before the tool, which it does not await for more than 100 ms.
    await settled;
    const pid = Number(await Deno.readTextFile(`${directory}/pid`));
    while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
  }));

function isRunning(pid: number): boolean {
  try {
    // A process that has ended and was not reaped yet is a zombie.
    return !Deno.readTextFileSync(`/proc/${pid}/stat`).includes(") Z ");
  } catch {
    return false;
  }
}

Deno.test({
  name:
    "library: outside of Deno the sandbox reports that commands are not confined, and refuses them if required",
  ignore: isDeno || Deno.build.os !== "linux",
  fn: () =>
    withDirectory(async (cwd) => {
      await using sandbox = createSandbox({ cwd, confinement: "required" });
      const { confined, summary } = await sandbox.describe();
      assertEquals(confined, false);
      assertStringIncludes(summary, "only Deno can set up Landlock and seccomp");
      await assertRejects(
        () => sandbox.startCommand("true"),
        BadRequestError,
        "requires confinement",
      );
    }),
});

Deno.test("library: commands reach only the allowed hosts through the proxy of the sandbox", () =>
  withDirectory(async (cwd) => {
    await using sandbox = createSandbox({ cwd, confinement: "off", net: ["example.org"] });
    const script = 'exec 3<>"/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}"; ' +
      'printf "CONNECT example.com:443 HTTP/1.1\\r\\n\\r\\n" >&3; head -n 1 <&3';
    const command = await sandbox.startCommand(script);
    const output = await new Response(command.output).text();
    await command.finish();
    assertStringIncludes(output, "HTTP/1.1 403 Forbidden");
  }));
