import { assertEquals, assertStringIncludes } from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { Agent } from "../../agent/agent.ts";
import type { ApprovalRequest } from "../../core/hooks/approve.ts";
import type { Policy } from "../../core/hooks/policy.ts";
import { extractText } from "../../core/messages/content.ts";
import { fakeTool } from "../../testing/fake_tool.ts";
import { assistantMessage, toolCall } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { createPlanMode, planFile } from "../../tools/plan/mod.ts";
import { FileSessionStore } from "../file/file_store.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { checkpoint, restore } from "./checkpoint.ts";
import { openSession } from "./open_session.ts";

const STEP = { title: "Measure", description: "", files: [], criteria: ["A time."] };
const WRITE_PLAN = toolCall("write_plan", { title: "T", context: "", steps: [STEP] }, { id: "w" });

interface PlannerOptions {
  readonly approve?: (request: ApprovalRequest) => boolean | { readonly type: "pending" };
}

/** An agent with plan mode and the tool `write_plan`. */
function createPlanner(
  file: string,
  steps: Parameters<typeof scriptedStream>[0],
  options: PlannerOptions = {},
) {
  const mode = createPlanMode({ file: planFile(file) });
  const tools = [fakeTool({ name: "read", readOnly: true }), fakeTool({ name: "write" })];
  const streamFn = scriptedStream(steps);
  const agent = new Agent({ model: "test/model", tools, policies: [mode], streamFn, ...options });
  return { agent, mode, streamFn };
}

function readResults({ state }: Agent): string[] {
  return state.messages.flatMap((message) =>
    message.role === "tool_result" ? [extractText(message.content)] : []
  );
}

Deno.test("openSession(): a call of write_plan that a crash interrupted runs again", async () => {
  await using directory = await createTemporaryDirectory();
  const copy = new FileSessionStore({ directory: `${directory.path}/copy` });
  const store = new FileSessionStore({ directory: `${directory.path}/store` });
  const first = createPlanner(`${directory.path}/first.md`, [reply([WRITE_PLAN]), reply("Done")]);
  await using session = await openSession(store, { id: "s" }, first.agent);
  first.mode.turnOn(first.agent);
  first.agent.subscribe(async (event) => {
    if (event.type !== "tool_execution_start") return;
    await Deno.mkdir(`${directory.path}/copy`);
    const log = await Deno.readTextFile(`${directory.path}/store/s.jsonl`);
    await Deno.writeTextFile(`${directory.path}/copy/s.jsonl`, log);
  });
  await first.agent.prompt("Plan");
  await session.close();

  const { agent, mode, streamFn } = createPlanner(`${directory.path}/second.md`, [reply("Done")]);
  await using _resumed = await openSession(copy, { id: "s" }, agent);
  assertEquals(mode.isActive, true);
  assertEquals(agent.state.interruptedCalls.map(({ rerun }) => rerun?.attempts), [1]);
  await agent.continue();
  assertStringIncludes(readResults(agent)[0] ?? "", "The plan with 1 step is written");
  assertStringIncludes(directory.read("second.md"), "## 1. Measure");
  assertEquals(streamFn.calls.length, 1);
});

Deno.test("openSession(): a call of write_plan that waits for an approval runs when it arrives", async () => {
  await using directory = await createTemporaryDirectory();
  const store = new InMemorySessionStore();
  const approve = () => ({ type: "pending" }) as const;
  const first = createPlanner(`${directory.path}/plan.md`, [reply([WRITE_PLAN])], { approve });
  await using session = await openSession(store, { id: "s" }, first.agent);
  first.mode.turnOn(first.agent);
  await first.agent.prompt("Plan");
  await session.close();

  const { agent } = createPlanner(`${directory.path}/plan.md`, [reply("Done")], { approve });
  await using _resumed = await openSession(store, { id: "s" }, agent);
  await agent.continue({ approvals: { w: true } });
  assertStringIncludes(readResults(agent)[0] ?? "", "The plan with 1 step is written");
});

Deno.test("restore(): keeps plan mode, in which an interrupted write_plan runs again", async () => {
  await using directory = await createTemporaryDirectory();
  const first = createPlanner(`${directory.path}/first.md`, [reply([WRITE_PLAN]), reply("Done")]);
  first.mode.turnOn(first.agent);
  let stored = "";
  first.agent.subscribe((event) => {
    if (event.type === "tool_execution_start") stored = JSON.stringify(checkpoint(first.agent));
  });
  await first.agent.prompt("Plan");

  const second = createPlanner(`${directory.path}/second.md`, [reply("Done")]);
  restore(second.agent, JSON.parse(stored));
  assertEquals(second.mode.isActive, true);
  await second.agent.continue();
  assertStringIncludes(readResults(second.agent)[0] ?? "", "The plan with 1 step is written");
  assertEquals(checkpoint(second.agent).planMode, true);
});

Deno.test("restore(): an agent without plan mode keeps only its tools that change nothing", () => {
  const { agent, mode } = createPlanner("/plan.md", []);
  assertEquals(checkpoint(agent).planMode, undefined);
  mode.turnOn(agent);
  const tools = [fakeTool({ name: "read", readOnly: true }), fakeTool({ name: "write" })];
  const plain = new Agent({ model: "test/model", tools, streamFn: scriptedStream([]) });
  assertEquals(restore(plain, checkpoint(agent)).missingTools, []);
  assertEquals(plain.state.tools.map(({ name }) => name), ["read"]);
});

Deno.test("restore(): a checkpoint without plan mode does not turn it off", () => {
  const { agent, mode } = createPlanner("/plan.md", []);
  const stored = checkpoint(agent);
  mode.turnOn(agent);
  restore(agent, stored);
  assertEquals(mode.isActive, true);
});

Deno.test("resumeTools: a policy that fails, or returns no tools, adds none and is reported", async () => {
  const tool = fakeTool({ name: "late", sideEffect: "none" });
  const policies: Policy[] = [
    { name: "adds", resumeTools: ({ tools }) => [...tools, tool] },
    { name: "nothing", resumeTools: () => undefined },
    {
      name: "fails",
      resumeTools: () => {
        throw new Error("no tools");
      },
    },
    { name: "wrong", resumeTools: () => ["late"] as never },
  ];
  const streamFn = scriptedStream([reply("Done")]);
  const agent = new Agent({ model: "test/model", tools: [], policies, streamFn });
  const warnings: string[] = [];
  agent.subscribe((event) => void (event.type === "warning" && warnings.push(event.message)));
  const call = toolCall("late", {}, { id: "c" });
  agent.setMessages([
    { role: "user", content: [{ type: "text", text: "Hi" }], timestamp: 0 },
    assistantMessage([call], { stopReason: "tool_use" }),
  ], {
    pendingApprovals: [],
    interruptedCalls: [{
      toolCallId: "c",
      result: { content: [], isError: true },
      rerun: { idempotencyKey: "k", attempts: 1 },
    }],
  });
  await agent.continue();
  assertEquals(tool.calls.length, 1);
  assertEquals(warnings.length, 2);
  assertStringIncludes(warnings[0] ?? "", "resumeTools");
});
