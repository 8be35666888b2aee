import { assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { withoutPrograms } from "../../../tests/sandbox/without_programs.ts";
import { Agent } from "../../agent/agent.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { extractText } from "../../core/messages/content.ts";
import { defineTool } from "../../core/tools/tool.ts";
import { reply, scriptedStream, toolCall } from "../../testing/mod.ts";
import { codingTools } from "../coding_tools.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { approvalGate } from "./approval_gate.ts";

const DENY = ["Read(secret/**)", "Read(.env)"];
const EXCLUDED = ["secret/**", ".env"];

/** Makes calls with rules, and returns the texts that the model reads. */
async function call(
  workspace: TestWorkspace,
  calls: readonly (readonly [name: string, args: JsonObject])[],
  sandbox: Sandbox = workspace.sandbox,
): Promise<string[]> {
  const agent = new Agent({
    model: "any/model",
    tools: codingTools({ sandbox }),
    approvalMode: "smart",
    approve: approvalGate({ deny: DENY, sandbox }),
    streamFn: scriptedStream([
      reply(calls.map(([name, args]) => toolCall(name, args))),
      reply("Done"),
    ]),
  });
  const { messages } = await agent.prompt("Search");
  return messages.flatMap((message) =>
    message.role === "tool_result" ? [extractText(message.content)] : []
  );
}

function createProject(): TestWorkspace {
  const workspace = new TestWorkspace();
  for (const path of [".env", "a.txt", "lib/.env", "lib/b.txt", "secret/c.txt", "Secret/D.txt"]) {
    workspace.writeFile(path, `key of ${path}\n`);
  }
  return workspace;
}

Deno.test("deny rules: a search or a list of a directory above a denied path is refused, with words that leave it out", async () => {
  await using workspace = createProject();
  const calls: [string, JsonObject][] = [
    ["search_files", { pattern: "key" }],
    ["search_files", { glob: "*" }],
    ["search_files", { pattern: "key", path: workspace.directory, output: "files" }],
    ["list_directory", {}],
  ];
  for (const text of await call(workspace, calls)) {
    assertEquals(text.includes("c.txt"), false, text);
    assertStringIncludes(text, "The rule Read(secret/**) forbids files below this directory.");
    assertStringIncludes(text, `exclude_paths: ${JSON.stringify(EXCLUDED)}`);
  }
  const [missing] = await call(workspace, [["search_files", {
    pattern: "key",
    exclude_paths: ["lib/**", ".env"],
  }]]);
  assertStringIncludes(missing ?? "", 'exclude_paths: ["lib/**",".env","secret/**"]');
});

Deno.test("deny rules: a search or a list that leaves out the denied paths shows nothing of them, with rg and without it", async () => {
  await using workspace = createProject();
  const exclude_paths = EXCLUDED;
  const calls: [string, JsonObject][] = [
    ["search_files", { pattern: "key", exclude_paths }],
    ["search_files", { pattern: "key", output: "count", exclude_paths }],
    ["search_files", { glob: "**", exclude_paths }],
    ["search_files", { pattern: "key", path: "lib", exclude_paths: [".env"] }],
    ["search_files", { pattern: "key", path: "a.txt" }],
    ["list_directory", { path: workspace.directory, depth: 3, exclude_paths }],
    ["search_files", { pattern: "key", exclude_paths: [...exclude_paths, "lib"] }],
    ["search_files", { pattern: "key", path: "a.txt", exclude_paths: ["a.txt"] }],
  ];
  const expected = [
    "a.txt\n1: key of a.txt\n\nlib/b.txt\n1: key of lib/b.txt",
    "a.txt: 1\nlib/b.txt: 1\nTotal: 2",
    "a.txt\nlib/b.txt",
    "lib/b.txt\n1: key of lib/b.txt",
    "a.txt\n1: key of a.txt",
    "Secret/\na.txt\nlib/\n  b.txt\nsecret/",
    "a.txt\n1: key of a.txt",
    "No matches",
  ];
  assertEquals(await call(workspace, calls), expected);
  assertEquals(await call(workspace, calls, withoutPrograms(workspace.sandbox)), expected);
});

Deno.test("deny rules: an edit does not quote a file that a rule for reading denies", async () => {
  await using workspace = createProject();
  const edits = [{ old_string: "key of secret/d.txt", new_string: "x" }];
  const [text = "", allowed = ""] = await call(workspace, [
    ["edit_file", { path: "secret/c.txt", edits }],
    ["write_file", { path: "secret/e.txt", content: "x" }],
  ]);
  assertStringIncludes(text, "The rule Read(secret/**) forbids this call.");
  assertEquals(text.includes("c.txt"), false, text);
  assertStringIncludes(allowed, "no approval prompt");
});

Deno.test("deny rules: after a change of the directory, the reason asks for absolute paths", async () => {
  await using workspace = createProject();
  const gate = approvalGate({
    mode: "bypassed",
    deny: ["Read(lib/.env)"],
    sandbox: workspace.sandbox,
  });
  const tool = workspace.tools.find(({ name }) => name === "bash");
  if (!tool) throw new Error("bash is missing");
  const explain = async (command: string) =>
    (await gate.explain({ name: "bash", arguments: { command }, tool })).decision;
  assertEquals((await explain("cat .env")).type, "approved");
  gate.onApproved({ name: "bash", arguments: { command: "cd lib" }, tool });
  const decision = await explain("cat .env");
  assertEquals(decision.type, "denied");
  assertStringIncludes(
    JSON.stringify(decision),
    "An earlier command may have changed the working directory",
  );
  assertEquals((await explain(`cat ${workspace.directory}/.env`)).type, "approved");
});

Deno.test("deny rules: a tool that leaves out no paths is refused in a directory above a denied path", async () => {
  const tool = defineTool({
    name: "search_files",
    description: "",
    parameters: { type: "object" },
    readOnly: true,
    execute: () => "",
  });
  const gate = approvalGate({ mode: "bypassed", deny: DENY });
  const args = { exclude_paths: EXCLUDED };
  const { decision } = await gate.explain({ name: "search_files", arguments: args, tool });
  assertEquals(decision, {
    type: "denied",
    reason: "The rule Read(secret/**) forbids files below this directory. Name another directory.",
    rule: "Read(secret/**)",
    origin: "rule",
  });
});

Deno.test("ask rules: a search above such a path is asked about, unless it leaves the path out", async () => {
  await using workspace = createProject();
  const { sandbox, tools } = workspace;
  const tool = tools.find(({ name }) => name === "search_files");
  if (!tool) throw new Error("search_files is missing");
  const gate = approvalGate({ rules: [{ source: "rules.json", ask: ["Read(.env)"] }], sandbox });
  const explain = async (args: JsonObject) =>
    (await gate.explain({ name: tool.name, arguments: { pattern: "key", ...args }, tool }))
      .decision;
  assertEquals(await explain({}), {
    type: "asked",
    cause: "rule",
    reason:
      'The rule Read(.env) requires approval for files below this directory. Leave them out with exclude_paths: [".env"], or name another directory.',
    rule: "Read(.env)",
    ruleSource: "rules.json",
  });
  assertEquals((await explain({ exclude_paths: [".env"] })).type, "approved");
});
