/**
 * Runs in plan mode.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const PLAN = {
  title: "A file",
  context: "It is missing.",
  steps: [{ title: "Write it", description: "", files: ["a.txt"], criteria: ["It exists."] }],
};

/** Runs `swink run` in the directory `p` of a home directory. */
async function run(
  home: TemporaryDirectory,
  args: readonly string[],
  options: FakeHostOptions = {},
) {
  const host = createFakeHost({
    model: [scriptedReply("Done.")],
    ...options,
    env: { ANTHROPIC_API_KEY: "k", NO_COLOR: "1", HOME: home.path },
  });
  const code = await main(["run", "--cwd", `${home.path}/p`, ...args, "Plan it"], host);
  const requests = host.requests.map(({ body }) => JSON.parse(body));
  return {
    code,
    messages: host.messages,
    requests,
    tools: requests[0]?.tools.map(({ name }: { readonly name: string }) => name),
  };
}

Deno.test("swink run --plan: changes nothing, and writes the plan", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  for (const flag of [["--plan"], ["--permission-mode", "plan"]]) {
    const { code, tools, requests, messages } = await run(home, ["--no-session", ...flag], {
      model: [
        scriptedReply(
          scriptedCall("write_file", { path: "a.txt", content: "1" }),
          scriptedCall("write_plan", PLAN),
        ),
        scriptedReply("Planned."),
      ],
    });
    assertEquals(code, 0);
    assertEquals(tools, [
      "bash",
      "list_directory",
      "read_file",
      "search_files",
      "task",
      "write_plan",
    ]);
    assertStringIncludes(JSON.stringify(requests[0].system), "Plan mode is on");
    assertStringIncludes(JSON.stringify(requests[1].messages), "write_file");
    assertStringIncludes(messages, "plan mode: .swink/plan.md · net off");
    assertStringIncludes(messages, "write_plan A file · The plan with 1 step is written.");
    assertStringIncludes(home.read("p/.swink/plan.md"), "## 1. Write it\n");
    assertEquals([...Deno.readDirSync(`${home.path}/p`)].map(({ name }) => name).sort(), [
      ".swink",
      "x",
    ]);
  }
});

Deno.test("swink run --plan: a command that names secrets needs an approval, also of a sub-agent", async () => {
  await using home = await createTemporaryDirectory({ "p/.env": "canary=1", "p/x": "text" });
  const read = scriptedCall("bash", { command: "cat .env" });
  const { code, requests, messages } = await run(home, ["--no-session", "--plan"], {
    model: [
      scriptedReply(read, scriptedCall("bash", { command: "cat x" })),
      scriptedReply(scriptedCall("task", { prompt: "Read" })),
      scriptedReply(read),
      scriptedReply("Refused."),
      scriptedReply("Planned."),
    ],
  });
  const sent = JSON.stringify(requests);
  assertEquals([sent.includes("canary"), sent.includes("text")], [false, true]);
  assertEquals(code, 6);
  assertStringIncludes(messages, "tool calls refused, approval is not possible in this run: bash");
});

Deno.test("swink run --plan: has no commands where nothing confines them", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const { tools } = await run(home, ["--no-session", "--plan", "--sandbox", "off"]);
  assertEquals(tools, ["list_directory", "read_file", "search_files", "task", "write_plan"]);
});

Deno.test("swink run --plan: starts no server, since nothing shows that its tools only read", async () => {
  const server = { mcpServers: { a: { command: "swink-missing-program" } } };
  await using home = await createTemporaryDirectory({
    "p/x": "",
    "mcp.json": JSON.stringify(server),
  });
  const args = ["--no-session", "--mcp-config", `${home.path}/mcp.json`];
  assertStringIncludes((await run(home, args)).messages, "MCP server a");
  const { messages } = await run(home, [...args, "--plan"]);
  assertEquals(messages.includes("MCP server"), false, messages);
});

Deno.test("swink run --plan: commands have no network, whatever the configuration allows", async () => {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config/swink/config.toml": 'net = "on"\n',
  });
  assertStringIncludes((await run(home, ["--no-session", "--plan"])).messages, "net off");
  const { code, messages } = await run(home, ["--no-session", "--plan", "--net", "on"]);
  assertEquals([code, messages], [
    2,
    'swink: Invalid value "on" for --net: commands have no network in plan mode\n' +
    "Omit --net, or run without plan mode.\n",
  ]);
  const both = await run(home, ["--plan", "--approve-all"]);
  assertEquals(both.code, 2);
});

Deno.test("swink run --approve-all: precedes the mode of the configuration", async () => {
  await using home = await createTemporaryDirectory({
    "p/x": "",
    ".config/swink/config.toml": 'permission_mode = "plan"\n',
  });
  const planned = await run(home, ["--no-session"]);
  const { tools } = await run(home, ["--no-session", "--approve-all"]);
  assertEquals([planned.tools.includes("bash"), planned.tools.includes("write_file")], [
    true,
    false,
  ]);
  assertEquals(tools.includes("write_file"), true);
});

Deno.test("swink run --continue: the options of the run decide about plan mode", async () => {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const hasPlan = async (...args: readonly string[]) => {
    const { tools, code } = await run(home, args);
    assertEquals(code, 0);
    return [tools.includes("write_plan"), tools.includes("write_file")];
  };
  assertEquals(await hasPlan("--plan"), [true, false]);
  assertEquals(await hasPlan("--continue", "--plan"), [true, false]);
  assertEquals(await hasPlan("--continue"), [false, true]);
  assertEquals(await hasPlan("--continue"), [false, true]);
});
