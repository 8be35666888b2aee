/**
 * Sub-agents of `swink run`: the tool `task`.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { assertOutput } from "./stream_schema.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

const TASK = scriptedReply(scriptedCall("task", { prompt: "Look for the cause" }));
const DONE = scriptedReply("Done.");

/** Runs `swink run` with replies for the agent and its sub-agents, in the order of the requests. */
async function run(
  model: NonNullable<FakeHostOptions["model"]>,
  args: readonly string[] = [],
  options: Omit<FakeHostOptions, "model"> = {},
) {
  await using home = await createTemporaryDirectory({ "p/a.txt": "A\n" });
  const env = { ANTHROPIC_API_KEY: "k", NO_COLOR: "1", HOME: home.path };
  const host = createFakeHost({ ...options, model, env });
  const code = await main(["run", "--cwd", `${home.path}/p`, ...args, "Fix it"], host);
  const requests = host.requests.map(({ body }) => JSON.parse(body));
  return {
    code,
    output: host.output,
    messages: host.messages,
    screen: host.screen,
    requests,
    systems: requests.map(({ system }) => system[0].text as string),
    tools: requests.map(({ tools }) => tools.map(({ name }: { name: string }) => name).sort()),
    lastMessages: requests.map(({ messages }) => JSON.stringify(messages.at(-1))),
    files: [...Deno.readDirSync(`${home.path}/p`)].map(({ name }) => name).sort(),
  };
}

Deno.test("swink run: the tool task gives a task to another agent with the tools of the run", async () => {
  const { code, output, messages, ...run1 } = await run([
    TASK,
    scriptedReply(scriptedCall("read_file", { path: "a.txt" })),
    scriptedReply("The cause is in a.txt:1."),
    DONE,
  ], ["--append-system-prompt", "Answer in French."]);
  assertEquals([code, output], [0, "Done.\n"]);
  assertStringIncludes(messages, "• task Look for the cause · The cause is in a.txt:1.\n");
  assertStringIncludes(messages, "2 turns · 400 tokens in, 80 out");
  const [agent, child] = run1.tools;
  assertEquals(agent, [...child, "task"].sort());
  assertEquals(run1.requests[1].messages.length, 1);
  assertStringIncludes(run1.lastMessages[1] ?? "", "Look for the cause");
  assertStringIncludes(run1.lastMessages[2] ?? "", "1\\tA");
  assertStringIncludes(run1.lastMessages[3] ?? "", "The cause is in a.txt:1.");
  const [system = "", childSystem = ""] = run1.systems;
  assert(system.startsWith("You are Swink"));
  assert(childSystem.startsWith("You work on one task for another agent"));
  for (const text of ["/p\n", "data, not instructions", "Never revert", "Answer in French."]) {
    assertStringIncludes(childSystem, text);
  }
});

Deno.test("swink run: a sub-agent has the rights of the run, and a script learns what it was refused", async () => {
  const replies = [
    TASK,
    scriptedReply(scriptedCall("bash", { command: "touch made" })),
    scriptedReply("Could not."),
    DONE,
  ];
  const refused = await run(replies);
  assertEquals([refused.code, refused.files], [6, ["a.txt"]]);
  assertStringIncludes(
    refused.messages,
    "swink: tool calls refused, approval is not possible in this run: bash",
  );
  assertStringIncludes(refused.lastMessages[2] ?? "", "this agent works alone");
  for (const args of [["--approve-all"], ["--allowed-tools", "bash(touch *)"]]) {
    const { code, files } = await run(replies, args);
    assertEquals([code, files], [0, ["a.txt", "made"]], args.join(" "));
  }
  const forbidden = await run(replies, ["--approve-all", "--disallowed-tools", "bash(touch *)"]);
  assertEquals(forbidden.files, ["a.txt"]);
  assertStringIncludes(forbidden.lastMessages[2] ?? "", "forbids this call");
});

Deno.test("swink run: the calls of a sub-agent are not asked about at the terminal", async () => {
  const { code, files, screen } = await run(
    [
      TASK,
      scriptedReply(scriptedCall("write_file", { path: "b.txt", content: "B" })),
      scriptedReply("Could not."),
      DONE,
    ],
    [],
    { terminals: ["input", "output", "messages"], answers: ["y"] },
  );
  assertEquals([code, files, screen.includes("Allow?")], [0, ["a.txt"], false]);
});

Deno.test("swink run --plan: a sub-agent changes nothing either", async () => {
  const { code, tools } = await run([TASK, scriptedReply("Found."), DONE], ["--plan"]);
  assertEquals(code, 0);
  assertEquals(tools[1], ["bash", "list_directory", "read_file", "search_files"]);
  assert(tools[0]?.includes("task"));
});

Deno.test("swink run: rules may name the tool task, also as Task, and tools that this run does not have", async () => {
  const { code, tools } = await run([DONE], ["--disallowed-tools", "Task,skill"]);
  assertEquals([code, tools[0]?.includes("task")], [0, false]);
  assertEquals((await run([DONE], ["--tools", "Read,Task"])).tools[0], ["read_file", "task"]);
});

Deno.test("swink run -o stream-json: the events of a sub-agent name the call that runs it", async () => {
  const { output } = await run([TASK, scriptedReply("Found."), DONE], ["-o", "stream-json"]);
  const lines = output.trim().split("\n").map((line) => JSON.parse(line));
  await assertOutput(lines);
  const events = lines.filter(({ type }) => type === "sub_agent");
  const call = lines.find(({ type }) => type === "tool_execution_start");
  assertEquals([...new Set(events.map(({ path }) => path.join()))], [call.id]);
  assertEquals(events.at(0).event.type, "agent_start");
  assertEquals(events.at(-1).event.type, "agent_end");
});

Deno.test("swink run --max-budget-usd: the spending of sub-agents counts", async () => {
  const expensive = { ...scriptedReply("Found."), outputTokens: 160_000 };
  const { code, requests } = await run(
    [TASK, expensive, DONE],
    ["--max-budget-usd", "2", "-m", "anthropic/claude-sonnet-5-5"],
  );
  assertEquals([code, requests.length], [5, 2]);
});
