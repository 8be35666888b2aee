import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { Agent } from "../../agent/agent.ts";
import { AlreadyRunningError } from "../../core/errors/errors.ts";
import type { CustomEvent } from "../../core/events/event.ts";
import { extractText } from "../../core/messages/content.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { subAgentTool } from "../../sub_agents/mod.ts";
import { fakeTool } from "../../testing/fake_tool.ts";
import { toolCall } from "../../testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { type ApprovedPlan, approvePlan } from "./approve_plan.ts";
import { createPlanMode } from "./create_plan_mode.ts";
import { createPlanExecutor, type PlanExecutorOptions } from "./plan_executor.ts";
import { planFile } from "./plan_file.ts";
import { hashPlan } from "./plan_hash.ts";

const TEXT =
  "# Faster start\n\nIt is slow.\n\n## 1. Measure\n\n## Notes\n\nMine.\n\n## 2. Load late\n";

const update = (step: number, state: string, note?: string) =>
  toolCall("update_step", { step, state, ...(note !== undefined && { note }) });

/** The calls that do both steps. */
const STEPS: readonly ScriptedStep[] = [
  reply([update(1, "in_progress")]),
  reply([update(1, "done")]),
  reply([update(2, "in_progress")]),
  reply([update(2, "done", "80 ms")]),
  reply("Faster."),
];

async function createExecution(
  steps: readonly ScriptedStep[],
  options: Partial<PlanExecutorOptions["agent"]> & { readonly text?: string } = {},
) {
  const { text = TEXT, ...agentOptions } = options;
  const directory = await createTemporaryDirectory({ "plan.md": text });
  const file = planFile(`${directory.path}/plan.md`);
  const streamFn = scriptedStream(steps);
  const create = () =>
    createPlanExecutor({ file, agent: { model: "test/model", streamFn, ...agentOptions } });
  const executor = create();
  const events: CustomEvent[] = [];
  executor.agent.subscribe((event) => void (event.type === "custom" && events.push(event)));
  const approve = async (): Promise<ApprovedPlan> => {
    const approval = await approvePlan(file, { ask: ({ hash }) => ({ type: "approved", hash }) });
    assert(approval.type === "approved");
    return approval.plan;
  };
  const readStates = () => directory.read("plan.md").match(/^## \d.*/gm);
  return Object.assign(directory, {
    file,
    streamFn,
    create,
    executor,
    approve,
    readStates,
    listEvents: () => events.map(({ name, data }) => [name, data]),
  });
}

function readResults(agent: Agent): string[] {
  return agent.state.messages.flatMap((message) =>
    message.role === "tool_result" ? extractText(message.content) : []
  );
}

Deno.test("createPlanExecutor(): executes the approved plan step by step, with states as events and in the file [AC-27]", async () => {
  await using plans = await createExecution(STEPS, { systemPrompt: "Project: Deno." });
  const { executor, streamFn } = plans;
  assertEquals(executor.steps, []);
  const outcome = await executor.start(await plans.approve());
  assertEquals([outcome.type, outcome.result?.text, outcome.steps], ["complete", "Faster.", [
    { title: "Measure", state: "complete" },
    { title: "Load late", state: "complete", note: "80 ms" },
  ]]);
  assertEquals(plans.listEvents(), [
    ["plan_created", {
      plan: TEXT,
      steps: ["Measure", "Load late"],
      approvedHash: await hashPlan(TEXT),
    }],
    ["plan_step", { step: 0, state: "in_progress" }],
    ["plan_step", { step: 0, state: "complete" }],
    ["plan_step", { step: 1, state: "in_progress" }],
    ["plan_step", { step: 1, state: "complete", note: "80 ms" }],
  ]);
  assertEquals(
    plans.read("plan.md"),
    TEXT.replace("## 1. ", "## 1. [done] ").replace("## 2. ", "## 2. [done] "),
  );
  const [first] = streamFn.calls;
  assert(first);
  assert(first.context.systemPrompt.startsWith("Project: Deno.\n\nYou execute a plan"));
  assertEquals(first.context.messages.map(({ role }) => role), ["user"]);
  assertEquals(
    extractText(first.context.messages[0]?.content ?? []),
    `Execute this plan.\n\n${TEXT.trimEnd()}`,
  );
  assertEquals(readResults(executor.agent), [
    'Step 1 of 2, "Measure", is in progress.',
    'Step 2 of 2, "Load late", is open.',
    'Step 2 of 2, "Load late", is in progress.',
    "All steps are done: end with a short report.",
  ]);
});

Deno.test("createPlanExecutor(): begins at the first step that is not done, with the numbers of the tool", async () => {
  const text = "# T\n## 7. [done] a\n## 7. [in progress] b\n## 3. [failed] c\n";
  await using plans = await createExecution([
    reply([update(2, "done")]),
    reply([update(3, "in_progress")]),
    reply([update(3, "done")]),
    reply("Done"),
  ], { text });
  const outcome = await plans.executor.start(await plans.approve());
  assertEquals(outcome.type, "complete");
  assertStringIncludes(
    extractText(plans.streamFn.calls[0]?.context.messages[0]?.content ?? []),
    "# T\n## 1. [done] a\n## 2. [in progress] b\n## 3. [failed] c",
  );
  assertEquals(plans.listEvents().slice(1, 4), [
    ["plan_step", { step: 0, state: "complete" }],
    ["plan_step", { step: 1, state: "in_progress" }],
    ["plan_step", { step: 2, state: "failed" }],
  ]);
  assertEquals(plans.readStates(), ["## 7. [done] a", "## 7. [done] b", "## 3. [done] c"]);
});

Deno.test("createPlanExecutor(): a plan whose steps are done is complete without a request", async () => {
  await using plans = await createExecution([], { text: "# T\n## 1. [x] a\n" });
  const { type, result } = await plans.executor.start(await plans.approve());
  assertEquals([type, result, plans.streamFn.calls.length], ["complete", undefined, 0]);
});

Deno.test("createPlanExecutor(): refuses changes out of order, and ends at a step that has failed", async () => {
  await using plans = await createExecution([
    reply([update(2, "in_progress"), update(1, "done"), update(1, "failed")]),
    reply([update(1, "failed", "no network")]),
    reply("It failed."),
  ]);
  const outcome = await plans.executor.start(await plans.approve());
  assert(outcome.type === "failed");
  assertEquals(outcome.reason, "Step 1 has failed: no network");
  assertEquals(readResults(plans.executor.agent), [
    "Step 2 comes after step 1, which is open: do the steps in order",
    "Step 1 was not started: set it to in_progress first",
    "A step that has failed needs a note",
    'Step 1 of 2, "Measure", is failed: end with a short report.',
  ]);
  assertEquals(plans.readStates(), ["## 1. [failed] Measure", "## 2. Load late"]);
});

Deno.test("createPlanExecutor(): a step that fails and begins again in every run is no progress", async () => {
  const again = [update(1, "failed", "no network"), update(1, "in_progress")];
  await using plans = await createExecution([
    reply([update(1, "in_progress")]),
    ...Array.from({ length: 20 }, () => [reply(again), reply("Again")]).flat(),
  ]);
  const outcome = await plans.executor.start(await plans.approve());
  assert(outcome.type === "incomplete");
  assertEquals(outcome.reason, "The agent has ended its work before all steps were done");
  assertEquals(plans.streamFn.calls.length, 5);
});

Deno.test("createPlanExecutor(): prompts an agent that stops early again as long as it makes progress", async () => {
  await using plans = await createExecution([
    reply([update(1, "in_progress")]),
    reply("Shall I go on?"),
    reply([update(1, "done")]),
    reply("And now?"),
    reply("I think I am done."),
  ]);
  const outcome = await plans.executor.start(await plans.approve());
  assert(outcome.type === "incomplete");
  assertEquals(outcome.reason, "The agent has ended its work before all steps were done");
  const prompts = plans.executor.agent.state.messages.flatMap((message) =>
    message.role === "user" ? extractText(message.content) : []
  );
  assertEquals(prompts.slice(1), [
    'Continue with the plan. Step 1 of 2, "Measure", is in progress.',
    'Continue with the plan. Step 2 of 2, "Load late", is open.',
  ]);
});

/** A run that ends before its last reply: its second reply, the reason, and the options of the agent. */
const ENDS: readonly (readonly [string, ScriptedStep, Partial<PlanExecutorOptions["agent"]>])[] = [
  ["Wrong key", fail("bad_request", "Wrong key"), {}],
  ["The run reached its limit of 2 turns", reply([toolCall("write", {})]), { maxTurns: 2 }],
  ["Tool calls wait for approvals", reply([toolCall("write", {}, { id: "w" })]), {
    approvalMode: "smart",
    approve: () => ({ type: "pending" }),
  }],
];

for (const [reason, step, options] of ENDS) {
  Deno.test(`createPlanExecutor(): "${reason}" leaves it incomplete, and resume() continues`, async () => {
    const tools = [fakeTool({ name: "write" })];
    const steps = [reply([update(1, "in_progress")]), step, ...STEPS.slice(1)];
    await using plans = await createExecution(steps, { tools, ...options });
    const { executor } = plans;
    const first = await executor.start(await plans.approve());
    assert(first.type === "incomplete");
    assertStringIncludes(first.reason, reason);
    assertEquals(first.steps[0]?.state, "in_progress");
    const isPending = executor.agent.state.pendingApprovals.length > 0;
    const approvals = isPending ? { w: { type: "approved" } } as const : undefined;
    let outcome = await executor.resume({}, { approvals });
    if (outcome.type !== "complete") outcome = await executor.resume();
    assertEquals(outcome.type, "complete");
  });
}

Deno.test("createPlanExecutor(): an abort leaves it incomplete, and resume() continues", async () => {
  const controller = new AbortController();
  const write = fakeTool({ name: "write", result: () => (controller.abort(), "ok") });
  await using plans = await createExecution(
    [reply([update(1, "in_progress")]), reply([toolCall("write", {})]), ...STEPS.slice(1)],
    { tools: [write] },
  );
  const first = await plans.executor.start(await plans.approve(), { signal: controller.signal });
  assertEquals(first.type === "incomplete" && first.reason, "The run was aborted");
  assertEquals((await plans.executor.resume()).type, "complete");
});

Deno.test("createPlanExecutor(): resume() without decisions on pending approvals changes nothing", async () => {
  await using plans = await createExecution(
    [reply([toolCall("write", {})])],
    { tools: [fakeTool({ name: "write" })], ...ENDS[2]?.[2] },
  );
  const first = await plans.executor.start(await plans.approve());
  const second = await plans.executor.resume();
  for (const outcome of [first, second]) {
    assertEquals(outcome.type === "incomplete" && outcome.reason, "Tool calls wait for approvals");
  }
  assertEquals(plans.executor.agent.state.pendingApprovals.length, 1);
});

Deno.test("createPlanExecutor(): a step that has failed is tried again by resume()", async () => {
  await using plans = await createExecution([
    reply([update(1, "failed", "no network")]),
    reply("It failed."),
    ...STEPS,
  ]);
  assertEquals((await plans.executor.start(await plans.approve())).type, "failed");
  assertEquals((await plans.executor.resume()).type, "complete");
  const prompts = plans.executor.agent.state.messages.filter(({ role }) => role === "user");
  assertEquals(prompts.length, 2);
});

/** Edits of the file after its approval. */
const EDITS: readonly (readonly [string, (path: string) => void, string])[] = [
  ["another text", (path) => Deno.writeTextFileSync(path, `${TEXT}\nrm -rf\n`), "was edited"],
  [
    "steps in another order",
    (path) => Deno.writeTextFileSync(path, "# Faster start\n## 1. Load late\n## 2. Measure\n"),
    "was edited",
  ],
  ["no file", (path) => Deno.removeSync(path), "was removed"],
  ["a link", (path) => {
    Deno.renameSync(path, `${path}.old`);
    Deno.symlinkSync(`${path}.old`, path);
  }, "is a symbolic link"],
  ["a named pipe", (path) => {
    Deno.removeSync(path);
    new Deno.Command("mkfifo", { args: [path] }).outputSync();
  }, "is a named pipe"],
];

for (const [name, edit, reason] of EDITS) {
  Deno.test(`createPlanExecutor(): ${name} after the approval needs another approval, at the start and at any step`, async () => {
    await using early = await createExecution(STEPS);
    const approved = await early.approve();
    edit(early.file.path);
    const outcome = await early.executor.start(approved);
    assert(outcome.type === "needs_approval");
    assertStringIncludes(outcome.reason, reason);
    assertEquals([early.streamFn.calls.length, early.listEvents()], [0, []]);

    const write = fakeTool({ name: "write" });
    const change = fakeTool({ name: "change", result: () => (edit(late.file.path), "ok") });
    await using late = await createExecution([
      reply([update(1, "in_progress"), toolCall("change", {})]),
      reply([toolCall("write", {})]),
      reply("Done"),
    ], { tools: [write, change] });
    const stopped = await late.executor.start(await late.approve());
    assert(stopped.type === "needs_approval");
    assertStringIncludes(stopped.reason, reason);
    assertEquals([write.calls.length, late.streamFn.calls.length], [0, 1]);
    assertEquals((await late.executor.resume()).type, "needs_approval");
  });
}

Deno.test("createPlanExecutor(): an edit while a reply streams refuses the calls of the reply", async () => {
  const write = fakeTool({ name: "write" });
  await using plans = await createExecution([
    () => {
      Deno.writeTextFileSync(plans.file.path, "# Other\n## 1. a\n");
      return reply([toolCall("write", {})]);
    },
    reply("Done"),
  ], { tools: [write] });
  const outcome = await plans.executor.start(await plans.approve());
  assertEquals([outcome.type, write.calls.length], ["needs_approval", 0]);
  assertEquals(plans.read("plan.md"), "# Other\n## 1. a\n");
});

Deno.test("createPlanExecutor(): a state that a person changes in the file is replaced, and changes nothing else", async () => {
  await using plans = await createExecution([
    () => {
      Deno.writeTextFileSync(plans.file.path, TEXT.replace("## 2. ", "## 2. [done] "));
      return reply([update(1, "in_progress")]);
    },
    ...STEPS.slice(1),
  ]);
  const outcome = await plans.executor.start(await plans.approve());
  assertEquals(outcome.type, "complete");
  assertEquals(plans.streamFn.calls.length, 5);
});

Deno.test("createPlanExecutor(): states that cannot be written into the file are events all the same", async () => {
  await using plans = await createExecution(STEPS);
  const { file } = plans;
  const executor = createPlanExecutor({
    file: { ...file, write: () => Promise.reject(new Error("disk full")) },
    agent: { model: "test/model", streamFn: plans.streamFn },
  });
  assertEquals((await executor.start(await plans.approve())).type, "complete");
  assertEquals(
    readResults(executor.agent)[0],
    'Step 1 of 2, "Measure", is in progress.\nThe states of the steps were not written into the file: disk full',
  );
});

Deno.test("createPlanExecutor(): executes only what approvePlan() has returned, once, with an empty history", async () => {
  await using plans = await createExecution(STEPS);
  const approved = await plans.approve();
  const { executor } = plans;
  await assertRejects(() => executor.start({ ...approved }), Error, "the result of approvePlan()");
  const running = executor.start(approved);
  await assertRejects(() => executor.start(approved), AlreadyRunningError);
  await assertRejects(() => executor.resume(), AlreadyRunningError);
  assertEquals((await running).type, "complete");
  await assertRejects(() => executor.start(approved), Error, "create another executor");

  const other = plans.create();
  other.agent.appendMessages(executor.agent.state.messages);
  await assertRejects(() => other.start(approved), Error, "create another executor");
});

Deno.test("createPlanExecutor(): passes on no history, also to untyped callers", () => {
  const { agent } = createPlanExecutor({
    file: planFile("plan.md"),
    agent: {
      model: "test/model",
      messages: [{ role: "user", content: [{ type: "text", text: "secret" }], timestamp: 0 }],
    } as PlanExecutorOptions["agent"],
  });
  assertEquals(agent.state.messages, []);
  const wrong = { agent: { model: "a/b" }, path: "plan.md" } as unknown as PlanExecutorOptions;
  assertThrows(() => createPlanExecutor(wrong), Error, 'Unknown option "path"');
});

Deno.test("createPlanExecutor(): does not start while plan mode is on", async () => {
  const mode = createPlanMode();
  await using plans = await createExecution(STEPS, { policies: [mode] });
  const planner = new Agent({ model: "test/model", policies: [mode] });
  mode.turnOn(planner);
  const approved = await plans.approve();
  await assertRejects(() => plans.executor.start(approved), Error, "Plan mode is on");
  mode.turnOff(planner);
  assertEquals((await plans.executor.start(approved)).type, "complete");
});

Deno.test("createPlanExecutor(): an agent below the executor cannot update its steps", async () => {
  const helper: AgentTool = subAgentTool({ name: "helper", description: "Helps." });
  await using plans = await createExecution([
    reply([toolCall("helper", { prompt: "Help" })]),
    reply([update(1, "in_progress")]), // the helper
    reply("Helped"),
    reply("Done"),
  ], { tools: [helper] });
  const outcome = await plans.executor.start(await plans.approve());
  assertEquals([outcome.type, outcome.steps[0]?.state], ["incomplete", "pending"]);
  assertStringIncludes(
    JSON.stringify(plans.streamFn.calls[2]?.context.messages),
    "Only the agent that executes the plan can update its steps",
  );
});

Deno.test("createPlanExecutor(): resumes only a session whose plan was approved as it is", async () => {
  const approvedHash = await hashPlan(TEXT);
  const steps = [{ state: "complete" }, { state: "done?" as "pending" }] as const;
  const cases = [
    [undefined, "The session has no approved plan"],
    [{ plan: TEXT, steps }, "The session has no approved plan"],
    [{ plan: `${TEXT}x`, steps, approvedHash }, "is not the one that was approved"],
    [{ plan: "x", steps, approvedHash: await hashPlan("x") }, "The approved text is no plan"],
  ] as const;
  for (const [plan, reason] of cases) {
    await using plans = await createExecution(STEPS);
    const outcome = await plans.executor.resume({ plan });
    assert(outcome.type === "needs_approval");
    assertStringIncludes(outcome.reason, reason);
  }
  await using plans = await createExecution(STEPS.slice(2));
  const outcome = await plans.executor.resume({ plan: { plan: TEXT, steps, approvedHash } });
  assertEquals([outcome.type, plans.listEvents().length], ["complete", 2]);
});
