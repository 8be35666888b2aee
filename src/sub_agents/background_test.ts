import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { RunHandle } from "../core/events/run_handle.ts";
import type { Policy, PolicyContext } from "../core/hooks/policy.ts";
import { extractText } from "../core/messages/content.ts";
import { zeroCost } from "../core/models/usage.ts";
import { createDeferred } from "../core/ports/deferred.ts";
import { realSleep } from "../core/ports/ports.ts";
import type { StreamFn, StreamRequest } from "../core/streams/stream.ts";
import { defineTool } from "../core/tools/tool.ts";
import { InMemorySessionStore, openSession } from "../memory/mod.ts";
import { budget } from "../policies/budget.ts";
import { checkEvents } from "../testing/event_grammar.ts";
import { fakeTool } from "../testing/fake_tool.ts";
import { toolCall } from "../testing/messages.ts";
import { fail, hang, reply, type ScriptedStep } from "../testing/script.ts";
import { scriptedStream } from "../testing/scripted_stream.ts";
import { subAgentTool } from "./sub_agent_tool.ts";

const usage = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, total: 7 };
const explore = subAgentTool({ name: "explore", description: "Looks around.", background: true });
const startInBackground = () => toolCall("explore", { prompt: "Look", background: true });

/** Answers the host's agent and its sub-agents from two lists. */
function createAgent(own: readonly ScriptedStep[], children: readonly ScriptedStep[]) {
  const ownStream = scriptedStream(own);
  const childStream = scriptedStream(children);
  const streamFn: StreamFn = (request) =>
    JSON.stringify(request.context.messages[0]).includes("Look")
      ? childStream(request)
      : ownStream(request);
  return { agent: new Agent({ model: "test/model", streamFn, tools: [explore] }), ownStream };
}

function readTexts(agent: Agent): string[] {
  return agent.state.messages.map(({ role, ...message }) =>
    `${role}: ${JSON.stringify("content" in message ? message.content : "")}`
  );
}

Deno.test("background: the call returns at once, and the report is a follow-up before the run ends", async () => {
  const { agent, ownStream } = createAgent(
    [reply([startInBackground()]), reply("Waiting", { usage }), reply("Thanks", { usage })],
    [reply("All is well", { usage })],
  );
  const stream = agent.promptStream("Go");
  const events = await checkEvents(stream);
  const texts = readTexts(agent);
  assertEquals(texts.length, 6);
  assertStringIncludes(texts[2] ?? "", "The agent works in the background");
  assertStringIncludes(texts[4] ?? "", "has finished. Its report:\\n\\nAll is well");
  assertStringIncludes(texts[5] ?? "", "Thanks");
  assertEquals(ownStream.calls.length, 3);
  const paths = new Set(events.flatMap((event) => event.type === "sub_agent" ? event.path : []));
  assertEquals([...paths], ["call_1"]);
  assertEquals((await stream.result()).usage.total, 21);
});

Deno.test("background: the report arrives once if the run is recorded, too", async () => {
  const { agent, ownStream } = createAgent(
    [reply([startInBackground()]), reply("Waiting"), reply("Thanks")],
    [reply("All is well")],
  );
  await using _session = await openSession(new InMemorySessionStore(), {}, agent);
  await checkEvents(agent.promptStream("Go"));
  const reports = readTexts(agent).filter((text) => text.includes("All is well"));
  assertEquals([reports.length, ownStream.calls.length], [1, 3]);
});

Deno.test("background: the failure of an agent that could not be run is reported once, recorded or not", async () => {
  for (const isRecorded of [true, false]) {
    const streamFn = scriptedStream(
      Array(9).fill(({ context }: StreamRequest) => {
        const isFirst = context.messages.length === 1;
        const isChild = JSON.stringify(context.messages[0]).includes("Look");
        return isFirst && !isChild
          ? reply([startInBackground(), startInBackground()])
          : reply("Ok");
      }),
    );
    const tool = subAgentTool({
      name: "explore",
      description: "-",
      background: true,
      maxAgents: 1,
    });
    const agent = new Agent({ model: "test/model", streamFn, tools: [tool] });
    await using _session = isRecorded
      ? await openSession(new InMemorySessionStore(), { id: "recorded" }, agent)
      : undefined;
    await agent.prompt("Go");
    const failures = readTexts(agent).filter((text) => text.includes("at most 1 agents"));
    assertEquals(failures.length, 1, failures.join("\n"));
    assertStringIncludes(failures[0] ?? "", "call_2");
  }
});

Deno.test("background: several run side by side, and their reports arrive as they end", async () => {
  const { agent } = createAgent(
    [
      reply([startInBackground(), startInBackground()]),
      reply("Waiting"),
      reply("One"),
      reply("Two"),
    ],
    [reply("First"), reply("Second")],
  );
  await checkEvents(agent.promptStream("Go"));
  const all = readTexts(agent).join("\n");
  assertStringIncludes(all, "First");
  assertStringIncludes(all, "Second");
});

Deno.test("background: an abort ends the run and cancels the agent", async () => {
  const { agent } = createAgent([reply([startInBackground()]), reply("Waiting")], [hang()]);
  agent.subscribe((event) => {
    if (event.type === "turn_end" && event.turn === 2) agent.abort("enough");
  });
  const result = await agent.prompt("Go");
  assertEquals([result.stopReason, result.abortReason], ["aborted", "enough"]);
});

Deno.test("background: steering and follow-ups are delivered while the run waits", async () => {
  for (const method of ["steer", "followUp"] as const) {
    const { agent } = createAgent(
      [reply([startInBackground()]), reply("Waiting"), reply("Answer"), reply("Never")],
      [hang()],
    );
    agent.subscribe((event) => {
      if (event.type !== "turn_end") return;
      if (event.turn === 2) queueMicrotask(() => setTimeout(() => agent[method]("Still there?")));
      if (event.turn === 3) agent.abort();
    });
    await agent.prompt("Go");
    assertStringIncludes(readTexts(agent).join("\n"), "Answer");
  }
});

Deno.test("background: an error of the run cancels the agent", async () => {
  const { agent } = createAgent([reply([startInBackground()])], [hang()]);
  const result = await agent.prompt("Go");
  assertEquals(result.stopReason, "error");
});

/** A tool that starts the given work. */
function workTool(work: (run: RunHandle) => void) {
  return defineTool({
    name: "work",
    description: "Works.",
    parameters: { type: "object" },
    execute: (_args, { run }) => {
      work(run);
      return "started";
    },
  });
}

async function runWork(
  work: (run: RunHandle) => void,
  steps: readonly ScriptedStep[],
): Promise<string> {
  const streamFn = scriptedStream([reply([toolCall("work", {})]), ...steps]);
  const agent = new Agent({ model: "test/model", streamFn, tools: [workTool(work)] });
  await checkEvents(agent.promptStream("Go"));
  return readTexts(agent).join("\n");
}

Deno.test("background: work of any tool may return a message, and its failure is reported", async () => {
  const steps = [reply("Waiting"), reply("Thanks")];
  const ok = await runWork((run) => run.background(() => Promise.resolve("It is done")), steps);
  assertStringIncludes(ok, "It is done");
  const failed = await runWork(
    (run) => run.background(() => Promise.reject(new Error("broken"))),
    steps,
  );
  assertStringIncludes(failed, "The work of the tool call call_1 (work) failed: broken");
  const thrown = await runWork((run) =>
    run.background(() => {
      throw new Error("at once");
    }), steps);
  assertStringIncludes(thrown, "at once");
  const none = await runWork((run) => run.background(() => Promise.resolve([])), [reply("Done")]);
  assertStringIncludes(none, "Done");
});

/** Numbers of microtasks after the last turn, in one of which a run begins to wait for background work. */
const MICROTASKS = Array.from({ length: 12 }, (_, count) => count);

Deno.test("background: work without messages that ends when the run begins to wait for it does not block the run", async () => {
  for (const count of MICROTASKS) {
    const lastTurn = createDeferred<void>();
    const work = async () => {
      await lastTurn.promise;
      for (let passed = 0; passed < count; passed++) await undefined;
      return [];
    };
    const agent = new Agent({
      model: "test/model",
      streamFn: scriptedStream([reply([toolCall("work", {})]), reply("Done")]),
      tools: [workTool((run) => run.background(work))],
    });
    agent.subscribe((event) => {
      if (event.type === "turn_end" && event.turn === 2) lastTurn.resolve();
    });
    assertEquals((await agent.prompt("Go")).text, "Done", `${count} microtasks`);
  }
});

Deno.test("background: a message that is queued when the run begins to wait is delivered at once", async () => {
  for (const method of ["steer", "followUp"] as const) {
    for (const count of MICROTASKS) {
      const { agent } = createAgent(
        [reply([startInBackground()]), reply("Waiting"), reply("Answer")],
        [hang()],
      );
      const ask = async () => {
        for (let passed = 0; passed < count; passed++) await undefined;
        agent[method]("Well?");
      };
      agent.subscribe((event) => {
        if (event.type !== "turn_end") return;
        if (event.turn === 2) void ask();
        if (event.turn === 3) agent.abort();
      });
      await agent.prompt("Go");
      assertStringIncludes(readTexts(agent).join("\n"), "Answer", `${count} microtasks`);
    }
  }
});

Deno.test("background: its spending is listed by tool call, for policies and at the end of the run", async () => {
  const usage = { input: 3, output: 1, cacheRead: 0, cacheWrite: 0, total: 4 };
  const cost = { ...zeroCost(), total: 2 };
  const spend = (run: RunHandle): void =>
    run.background(async ({ onEvent }) => {
      const result = { content: [], usage, cost };
      const end = {
        type: "tool_execution_end",
        id: "x",
        name: "x",
        result,
        isError: false,
      } as const;
      for (let count = 0; count < 2; count++) await onEvent(end);
      return "It is done";
    });
  const seen: (PolicyContext["lateSpending"])[] = [];
  const watch: Policy = { name: "watch", postTurn: (turn) => void seen.push(turn.lateSpending) };
  const call = toolCall("work", {}, { id: "w" });
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([call]), reply("Waiting"), reply("Thanks")]),
    tools: [workTool(spend)],
    policies: [watch],
  });
  const events = await checkEvents(agent.promptStream("Go"));
  const end = events.at(-1);
  const expected = [{
    toolCallId: "w",
    usage: { ...usage, input: 6, output: 2, total: 8 },
    cost: { ...cost, total: 4 },
  }];
  assertEquals(end?.type === "agent_end" && end.lateSpending, expected);
  assertEquals([seen.at(0), seen.at(-1)], [undefined, expected]);
});

Deno.test("background: a run that has ended starts no work", async () => {
  let handle: RunHandle | undefined;
  await runWork((run) => handle = run, [reply("Done")]);
  assertThrows(() => handle?.background(() => Promise.resolve("late")), BadRequestError);
});

Deno.test("background: work that ignores its signal does not keep an aborted run from ending", async () => {
  const never = createDeferred<string>();
  const streamFn = scriptedStream([reply([toolCall("work", {})]), reply("Waiting")]);
  const work = workTool((run) => run.background(() => never.promise));
  const agent = new Agent({
    model: "test/model",
    streamFn,
    tools: [work, fakeTool({ name: "x" })],
  });
  agent.subscribe((event) => {
    if (event.type === "turn_end" && event.turn === 2) agent.abort();
  });
  assertEquals((await agent.prompt("Go")).stopReason, "aborted");
  never.resolve("late");
});

Deno.test("background: what work spends after the abort that ends the run counts, and its events precede the end", async () => {
  const late = (run: RunHandle): void =>
    run.background(async ({ signal, onEvent }) => {
      await new Promise((resolve) => signal.addEventListener("abort", () => setTimeout(resolve)));
      const result = { content: [], usage };
      await onEvent({ type: "tool_execution_end", id: "x", name: "x", result, isError: true });
      return "cancelled";
    });
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([toolCall("work", {})]), reply("Waiting")]),
    tools: [workTool(late)],
  });
  agent.subscribe((event) => {
    if (event.type === "turn_end" && event.turn === 2) agent.abort();
  });
  const stream = agent.promptStream("Go");
  const events = await checkEvents(stream);
  assertEquals(events.slice(-2).map(({ type }) => type), ["sub_agent", "agent_end"]);
  assertEquals((await stream.result()).usage.total, 7);
});

Deno.test("background: events of work that continues after the end of the run are dropped", async () => {
  const channel = createDeferred<
    Parameters<Parameters<RunHandle["background"]>[0]>[0]["onEvent"]
  >();
  const never = createDeferred<string>();
  const work = workTool((run) =>
    run.background(({ onEvent }) => {
      channel.resolve(onEvent);
      return never.promise;
    })
  );
  const streamFn = scriptedStream([reply([toolCall("work", {})]), reply("Waiting")]);
  const agent = new Agent({ model: "test/model", streamFn, tools: [work] });
  const types: string[] = [];
  agent.subscribe((event) => {
    types.push(event.type);
    if (event.type === "turn_end" && event.turn === 2) agent.abort();
  });
  await agent.prompt("Go");
  const onEvent = await channel.promise;
  await onEvent({ type: "warning", code: "late", message: "Late" });
  assertEquals([types.at(-1), types.includes("sub_agent")], ["agent_end", false]);
  never.resolve("late");
});

const danger = fakeTool({ name: "danger", result: "Done" });

/** Returns the texts of the last messages. */
function readLast(agent: Agent, count: number): string[] {
  return agent.state.messages.slice(-count).map((message) =>
    message.role === "custom" ? "" : extractText(message.content)
  );
}

/** Creates an agent that starts work, and then calls a tool that needs an approval. */
function createPendingAgent(
  work: (run: RunHandle) => void,
  options: Partial<AgentOptions> = {},
): Agent {
  return new Agent({
    ...options,
    model: "test/model",
    streamFn: scriptedStream([
      reply([toolCall("work", {})]),
      reply([toolCall("danger", {}, { id: "d" })]),
      reply("Approved"),
      reply("Read"),
    ]),
    tools: [workTool(work), danger],
    approve: ({ name }) => name === "danger" ? { type: "pending" } : true,
  });
}

Deno.test("background: a run that waits for approvals ends after the work, whose report the next run delivers", async () => {
  let isCancelled: boolean | undefined;
  const agent = createPendingAgent((run) =>
    run.background(async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      isCancelled = signal.aborted;
      return "The build passed";
    })
  );
  const { pendingApprovals } = await agent.prompt("Go");
  assertEquals([pendingApprovals?.length, isCancelled], [1, false]);
  const [queued, ...others] = agent.queued.followUp;
  assertEquals([typeof queued?.message.id, others.length], ["string", 0]);
  await checkEvents(agent.continueStream({ approvals: { d: true } }));
  assertEquals(readLast(agent, 3), ["Approved", "The build passed", "Read"]);
});

Deno.test("background: an abort ends a run that waits for work and approvals", async () => {
  const agent = createPendingAgent((run) => run.background(() => new Promise(() => {})));
  agent.subscribe((event) => {
    if (event.type === "turn_end" && event.turn === 2) setTimeout(() => agent.abort());
  });
  const { pendingApprovals } = await agent.prompt("Go");
  assertEquals(pendingApprovals?.length, 1);
});

Deno.test("background: a time limit that ends the wait of a run with pending approvals is in the result", async () => {
  let now = 0;
  let step = 0;
  const work = (run: RunHandle) => run.background(() => new Promise(() => {}));
  const options = { policies: [budget({ elapsedMs: 500 })], now: () => now += step };
  const agent = createPendingAgent(work, options);
  agent.subscribe((event) => {
    if (event.type === "turn_end" && event.turn === 2) step = 500;
  });
  const { pendingApprovals, stoppedBy } = await agent.prompt("Go");
  step = 0;
  assertEquals([pendingApprovals?.length, stoppedBy], [1, {
    policy: "budget",
    reason: "The run reached the time limit of 500 ms",
  }]);
  assertEquals((await agent.continue({ approvals: { d: true } })).text, "Approved");
});

for (const end of ["error", "reset"] as const) {
  Deno.test(`background: a report that arrived during the last turn is ${end === "error" ? "delivered by the next run after an error" : "dropped by reset()"}`, async () => {
    const arrived = createDeferred<string>();
    const last: ScriptedStep = async () => {
      arrived.resolve("The build passed");
      await new Promise((resolve) => setTimeout(resolve));
      if (end === "reset") agent.reset();
      return fail("bad_request", "Invalid key");
    };
    const agent: Agent = new Agent({
      model: "test/model",
      streamFn: scriptedStream([
        reply([toolCall("work", {})]),
        last,
        reply("Hello"),
        reply("Read"),
      ]),
      tools: [workTool((run) => run.background(() => arrived.promise))],
    });
    await agent.prompt("Go");
    await agent.prompt("Again");
    const expected = end === "error" ? ["Hello", "The build passed", "Read"] : ["Again", "Hello"];
    assertEquals(readLast(agent, expected.length), expected);
  });
}

Deno.test("background: a time limit ends the wait for work", async () => {
  let reason: unknown;
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([toolCall("work", {})]), reply("Waiting")]),
    tools: [
      workTool((run) =>
        run.background(({ signal }) =>
          new Promise((resolve) =>
            signal.addEventListener("abort", () => {
              reason = "cancelled";
              resolve("late");
            })
          )
        )
      ),
    ],
    policies: [budget({ elapsedMs: 300 })],
  });
  const { stoppedBy, abortReason } = await agent.prompt("Go");
  assertEquals([stoppedBy?.policy, abortReason, reason], ["budget", undefined, "cancelled"]);
});

Deno.test("background: a run that has waited calls no policy after its end, and stops all of its timers", async () => {
  const signals: AbortSignal[] = [];
  const work = workTool((run) => run.background(() => realSleep(5).then(() => "It is done")));
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([toolCall("work", {})]), reply("Waiting"), reply("Thanks")]),
    tools: [work],
    policies: [{ name: "watch", onDelta: () => {} }],
    sleep: (milliseconds, signal) => {
      if (signal) signals.push(signal);
      return realSleep(milliseconds, signal);
    },
  });
  assertEquals((await agent.prompt("Go")).text, "Thanks");
  assertEquals(signals.map(({ aborted }) => aborted), signals.map(() => true));
});
