import { assert, assertEquals } from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { Agent } from "../../agent/agent.ts";
import { fakeTool } from "../../testing/fake_tool.ts";
import { toolCall } from "../../testing/messages.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import {
  approvePlan,
  createPlanExecutor,
  createPlanMode,
  hashPlan,
  planFile,
} from "../../tools/plan/mod.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { openSession } from "./open_session.ts";

const PLAN_TYPES = ["plan_mode", "plan_created", "plan_step", "custom"] as const;
const TEXT = "# Faster start\n\n## 1. Measure\n\n## 2. Load late\n";

/** An agent with plan mode, and the script of its model. */
function createPlanner(steps: Parameters<typeof scriptedStream>[0], file?: string) {
  const mode = createPlanMode(file === undefined ? {} : { file: planFile(file) });
  const streamFn = scriptedStream(steps);
  const tools = [fakeTool({ name: "read", readOnly: true }), fakeTool({ name: "write" })];
  return {
    mode,
    streamFn,
    agent: new Agent({ model: "test/model", tools, policies: [mode], streamFn }),
  };
}

async function listEntries(store: InMemorySessionStore): Promise<unknown[]> {
  await using session = await store.open("s", { access: "read" });
  const path = await session.path({ types: [...PLAN_TYPES] });
  return path.map(({ id: _id, parentId: _parent, timestamp: _time, ...body }) => body);
}

Deno.test("recordSession(): records plan mode and plans as entries, and other custom events as before", async () => {
  await using directory = await createTemporaryDirectory();
  const store = new InMemorySessionStore();
  const step = { title: "Measure", description: "", files: [], criteria: ["A time."] };
  const { agent, mode } = createPlanner(
    [reply([toolCall("write_plan", { title: "T", context: "", steps: [step] })]), reply("Done")],
    `${directory.path}/plan.md`,
  );
  await using session = await openSession(store, { id: "s" }, agent);
  mode.turnOn(agent);
  await agent.prompt("Plan");
  agent.emitCustom("plan_created", { plan: 7 });
  mode.turnOff(agent);
  await session.close();
  assertEquals(await listEntries(store), [
    { type: "plan_mode", active: true },
    { type: "plan_created", plan: directory.read("plan.md"), steps: ["Measure"] },
    { type: "custom", name: "plan_created", data: { plan: 7 } },
    { type: "plan_mode", active: false },
  ]);
});

Deno.test("recordSession(): records plan mode that was turned on before, once", async () => {
  const store = new InMemorySessionStore();
  const { agent, mode } = createPlanner([reply("a"), reply("b")]);
  mode.turnOn(agent);
  await using session = await openSession(store, { id: "s" }, agent);
  await agent.prompt("Plan");
  await agent.prompt("Plan more");
  await session.close();
  assertEquals(await listEntries(store), [{ type: "plan_mode", active: true }]);
});

Deno.test("openSession(): turns plan mode of the agent on as the session had it, and it can be turned off", async () => {
  const store = new InMemorySessionStore();
  const first = createPlanner([reply("a")]);
  await using session = await openSession(store, { id: "s" }, first.agent);
  first.mode.turnOn(first.agent);
  await first.agent.prompt("Plan");
  await session.close();

  const { agent, mode, streamFn } = createPlanner([reply("b"), reply("c")]);
  await using resumed = await openSession(store, { id: "s" }, agent);
  assertEquals([resumed.planMode, mode.isActive], [true, true]);
  await agent.prompt("Plan");
  mode.turnOff(agent);
  await agent.prompt("Do it");
  const names = streamFn.calls.map(({ context: { tools } }) => tools.map(({ name }) => name));
  assertEquals(names, [["read"], ["read", "write"]]);
  await resumed.close();
  assertEquals((await listEntries(store)).at(-1), { type: "plan_mode", active: false });
});

Deno.test("openSession(): an agent without plan mode keeps only its tools that change nothing", async () => {
  const store = new InMemorySessionStore();
  const { agent, mode } = createPlanner([reply("a")]);
  await using session = await openSession(store, { id: "s" }, agent);
  mode.turnOn(agent);
  await agent.prompt("Plan");
  await session.close();
  const tools = [fakeTool({ name: "read", readOnly: true }), fakeTool({ name: "write" })];
  const plain = new Agent({ model: "test/model", tools });
  await using _resumed = await openSession(store, { id: "s" }, plain);
  assertEquals(plain.state.tools.map(({ name }) => name), ["read"]);
});

Deno.test("openSession(): an executor continues the plan of its session in another process, from memory alone", async () => {
  await using directory = await createTemporaryDirectory({ "plan.md": TEXT });
  const file = planFile(`${directory.path}/plan.md`);
  const store = new InMemorySessionStore();
  const update = (step: number, state: string, note?: string) =>
    reply([toolCall("update_step", { step, state, ...(note && { note }) })]);
  const createExecutor = (steps: Parameters<typeof scriptedStream>[0], maxTurns = 9) =>
    createPlanExecutor({
      file,
      agent: { model: "test/model", maxTurns, streamFn: scriptedStream(steps) },
    });

  const first = createExecutor([update(1, "in_progress"), update(1, "done", "80 ms")], 2);
  const approval = await approvePlan(file, { ask: ({ hash }) => ({ type: "approved", hash }) });
  assert(approval.type === "approved");
  const session = await openSession(store, { id: "s" }, first.agent);
  assertEquals((await first.start(approval.plan)).type, "incomplete");
  await session.close();

  const second = createExecutor([update(2, "in_progress"), update(2, "done"), reply("Done")]);
  await using resumed = await openSession(store, { id: "s" }, second.agent);
  assertEquals(resumed.plan, {
    plan: TEXT,
    approvedHash: await hashPlan(TEXT),
    steps: [{ step: "Measure", state: "complete" }, { step: "Load late", state: "pending" }],
  });
  assertEquals((await second.resume(resumed)).type, "complete");
  await resumed.close();
  assertEquals(await listEntries(store), [
    {
      type: "plan_created",
      plan: TEXT,
      steps: ["Measure", "Load late"],
      approvedHash: await hashPlan(TEXT),
    },
    { type: "plan_step", step: 0, state: "in_progress" },
    { type: "plan_step", step: 0, state: "complete", note: "80 ms" },
    { type: "plan_step", step: 1, state: "in_progress" },
    { type: "plan_step", step: 1, state: "complete" },
  ]);
});
