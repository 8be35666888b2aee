import { assertEquals } from "@std/assert";
import type { AgentContext } from "../../src/core/context/context.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { type AgentMessage, userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { type AgentTool, defineTool } from "../../src/core/tools/tool.ts";
import { agentLoop, agentLoopContinue } from "../../src/loop/loop.ts";
import { MessageQueue } from "../../src/loop/queues/message_queue.ts";
import type { MessageSource } from "../../src/loop/queues/message_source.ts";
import type { AgentLoopConfig } from "../../src/loop/run/config.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { assistantMessage, toolCall } from "../../src/testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../../src/testing/script.ts";
import { type ScriptedStream, scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { scriptedPorts, settle } from "./ports.ts";

const note = (words: string) => userMessage(words, 0);

/** Runs a prompt with functions as queues; returns the events, the history and the requests. */
async function runLoop(
  steps: readonly ScriptedStep[],
  config: Partial<AgentLoopConfig>,
  context: Partial<AgentContext> = {},
): Promise<{ events: AgentEvent[]; history: string[]; streamFn: ScriptedStream }> {
  const streamFn = scriptedStream(steps);
  const all = { model: modelSpec("test/model"), streamFn, ...scriptedPorts(), ...config };
  const full = { systemPrompt: "", messages: [], tools: [], ...context };
  const events = await checkEvents(agentLoop([note("Go")], full, all));
  await settle();
  const [end] = eventsOfType(events, "agent_end");
  return { events, history: outlineMessages(end?.messages ?? []), streamFn };
}

/** Returns a function that resolves to the next list on each call, in a later task, and the number of its calls. */
function lists(...items: readonly (readonly AgentMessage[])[]) {
  const pending = [...items];
  let calls = 0;
  return {
    get calls() {
      return calls;
    },
    get: async (): Promise<readonly AgentMessage[]> => {
      calls++;
      const next = pending.shift() ?? [];
      await settle();
      return next;
    },
  };
}

Deno.test("steering as a function: is called before each turn and after each tool call", async () => {
  const log: string[] = [];
  const tool = (name: string) =>
    fakeTool({ name, sequential: true, result: () => (log.push(name), "ok") });
  const { streamFn } = await runLoop(
    [reply([toolCall("a"), toolCall("b")]), reply("Done")],
    { steering: () => (log.push("steering"), []) },
    { tools: [tool("a"), tool("b")] },
  );
  assertEquals(log, ["steering", "a", "steering", "b", "steering", "steering", "steering"]);
  streamFn.assertDone();
});

for (const interrupt of ["cancel", "boundary"] as const) {
  Deno.test(`steering as a function, with interrupt ${interrupt}: messages after a call cancel the calls that wait for it`, async () => {
    for (const options of [{ sequential: true }, { concurrencyKey: () => "same" }]) {
      const source = lists([], [note("wait")]);
      const second = fakeTool({ name: "second", ...options });
      const { history, events } = await runLoop(
        [reply([toolCall("first"), toolCall("second")]), reply("Done")],
        { steering: source.get, interrupt },
        { tools: [fakeTool({ name: "first", ...options }), second] },
      );
      assertEquals(history, [
        "user: Go",
        "assistant: first({}) second({})",
        "tool_result: ok",
        "tool_result: tool call cancelled: user requested steering interrupt",
        "user: wait",
        "assistant: Done",
      ]);
      assertEquals(second.calls, []);
      assertEquals(eventsOfType(events, "turn_end")[0]?.reason, "steering_interrupt");
    }
  });
}

Deno.test("steering as a queue: a message that a listener of the queue takes back cancels no call", async () => {
  const queue = new MessageQueue({ newId: () => "queued" });
  queue.onArrival(() => queue.clear());
  const work = fakeTool({ name: "work", result: () => (queue.add(note("wait")), "worked") });
  const { history, events } = await runLoop(
    [reply([toolCall("work")]), reply("Done")],
    { steering: queue },
    { tools: [work] },
  );
  assertEquals(history, [
    "user: Go",
    "assistant: work({})",
    "tool_result: worked",
    "assistant: Done",
  ]);
  assertEquals(eventsOfType(events, "turn_end")[0]?.reason, "tools_executed");
});

Deno.test("steering as a queue: the run removes its listener when it ends, also when it fails", async () => {
  const listeners = new Set<() => void>();
  const steering: MessageSource = {
    peek: () => [],
    take: () => [],
    onArrival(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const counts: number[] = [];
  const observe = { name: "observe", preTurn: () => void counts.push(listeners.size) };
  await runLoop([reply("Done")], { steering, policies: [observe] });
  await runLoop([fail("auth_error", "No key")], { steering, policies: [observe] });
  assertEquals([counts, listeners.size], [[1, 1], 0]);
});

Deno.test("steering as a function: messages before the first turn follow the prompt, and messages at its end lead to another turn", async () => {
  const source = lists([note("early")], [note("late")]);
  const { history } = await runLoop([reply("One"), reply("Two")], { steering: source.get });
  assertEquals(history, [
    "user: Go",
    "user: early",
    "assistant: One",
    "user: late",
    "assistant: Two",
  ]);
});

Deno.test("followUp as a function: is called only when the run would end, until it has no messages", async () => {
  const source = lists([note("more")], [note("again"), note("and again")]);
  const { history } = await runLoop(
    [reply([toolCall("look")]), reply("One"), reply("Two"), reply("Three")],
    { followUp: source.get },
    { tools: [fakeTool({ name: "look" })] },
  );
  assertEquals(source.calls, 3);
  assertEquals(history.slice(3), [
    "assistant: One",
    "user: more",
    "assistant: Two",
    "user: again",
    "user: and again",
    "assistant: Three",
  ]);
});

Deno.test("followUp as a function: is not called after an error or a stop", async () => {
  const failed = lists([note("more")]);
  await runLoop([fail("auth_error", "No key")], { followUp: failed.get });
  const stopped = lists([note("more")]);
  await runLoop([reply("One")], {
    followUp: stopped.get,
    policies: [{ name: "halt", postTurn: () => ({ type: "stop", reason: "enough" }) }],
  });
  assertEquals([failed.calls, stopped.calls], [0, 0]);
});

for (const queue of ["steering", "followUp"] as const) {
  for (
    const [failure, source] of [
      ["throws", () => {
        throw new Error("no socket");
      }],
      ["rejects", () => Promise.reject(new Error("no socket"))],
      ["rejects later", async () => {
        await settle();
        throw new Error("no socket");
      }],
    ] as const
  ) {
    Deno.test(`${queue} as a function that ${failure}: the run continues with a warning`, async () => {
      const { history, events } = await runLoop([reply("One")], { [queue]: source });
      assertEquals(history, ["user: Go", "assistant: One"]);
      const warnings = eventsOfType(events, "warning");
      assertEquals(
        new Set(warnings.map(({ code, message }) => `${code}: ${message}`)),
        new Set([
          "message_source_failed: The message queue failed: no socket",
        ]),
      );
    });
  }

  for (const returned of ["Hi", 5, ["Hi"], [{ role: "user", content: "Hi" }]]) {
    Deno.test(`${queue} as a function that returns ${JSON.stringify(returned)}: the run continues with a warning`, async () => {
      const { history, events } = await runLoop([reply("One")], {
        [queue]: () => returned as never,
      });
      assertEquals(history, ["user: Go", "assistant: One"]);
      assertEquals(eventsOfType(events, "warning")[0]?.code, "message_source_failed");
    });
  }

  Deno.test(`${queue} as a function that returns nothing: the run ends`, async () => {
    for (const returned of [undefined, null, []]) {
      const { history, events } = await runLoop([reply("One")], {
        [queue]: () => returned as never,
      });
      assertEquals(history, ["user: Go", "assistant: One"]);
      assertEquals(eventsOfType(events, "warning"), []);
    }
  });
}

const METHODS = ["peek", "take", "onArrival", "poll"] as const;
const broken = (): never => {
  throw new Error("no socket");
};

for (const queue of ["steering", "followUp"] as const) {
  for (const method of METHODS) {
    Deno.test(`${queue} as a queue whose ${method}() fails or returns another value: the run continues with a warning`, async () => {
      const answers = [
        broken,
        () => Promise.reject(new Error("no socket")),
        () => 5,
        () => ["Hi"],
        () => [{ role: "user", content: "Hi" }],
        () => undefined,
      ];
      for (const answer of answers) {
        const source = {
          peek: () => method === "take" ? [note("Hi")] : [],
          take: () => [],
          onArrival: () => () => {},
          poll: () => Promise.resolve(),
          [method]: answer,
        } as MessageSource;
        const { history, events } = await runLoop([reply("One"), reply("Two")], {
          [queue]: source,
          maxTurns: 1,
        });
        assertEquals(history, ["user: Go", "assistant: One"]);
        const warnings = eventsOfType(events, "warning").map(({ code }) => code);
        assertEquals(warnings.every((code) => code === "message_source_failed"), true);
        assertEquals(warnings.length <= 1, true);
        const isCalled = queue === "steering" || method === "peek" || method === "poll";
        if (answer === broken && isCalled) assertEquals(warnings.length, 1);
      }
    });
  }
}

const takes = { fails: broken, "returns nothing": () => [] };

for (const queue of ["steering", "followUp"] as const) {
  for (const [outcome, take] of Object.entries(takes)) {
    Deno.test(`${queue} as a queue whose take() ${outcome}: does not keep the run going`, async () => {
      const source = { peek: () => [note("Hi")], take };
      const { streamFn, events } = await runLoop(Array(9).fill(reply("One")), { [queue]: source });
      // The turn for a follow-up has started before its message is taken.
      assertEquals(streamFn.calls.length, queue === "steering" ? 1 : 2);
      assertEquals(eventsOfType(events, "warning").map(({ code }) => code), [
        "message_source_failed",
      ]);
    });
  }
}

const check: Policy = { name: "check", preTurn: ({ newMessages }) => void newMessages };

// Without a check, a turn that got no message tries again when its request is ready.
for (const [policies, failures] of [[[], 2], [[check], 1]] as const) {
  Deno.test(`steering as a queue of the application: a message is delivered by the turn after one whose take() failed, with ${policies.length} policies that check it`, async () => {
    const pending = [note("again")];
    let calls = 0;
    const source = {
      peek: () => pending.slice(),
      take: () => ++calls <= failures ? broken() : pending.splice(0),
    };
    const { history } = await runLoop([reply([toolCall("look")]), reply("Done")], {
      steering: source,
      interrupt: "after_batch",
      policies,
    }, { tools: [fakeTool({ name: "look" })] });
    assertEquals(history.slice(3), ["user: again", "assistant: Done"]);
  });
}

Deno.test("steering as a queue of the application: delivers its messages, as copies", async () => {
  const message = note("again");
  const pending = [message];
  const source = { peek: () => pending.slice(), take: () => pending.splice(0) };
  const { history, events } = await runLoop([reply("One")], { steering: source });
  assertEquals(history, ["user: Go", "user: again", "assistant: One"]);
  const [end] = eventsOfType(events, "agent_end");
  assertEquals([end?.messages[1]?.id !== undefined, message.id], [true, undefined]);
});

Deno.test("steering as a queue of the application: an unsubscribe that fails does not fail the run", async () => {
  const source = { peek: () => [], take: () => [], onArrival: () => broken };
  const { history } = await runLoop([reply("One")], { steering: source });
  assertEquals(history, ["user: Go", "assistant: One"]);
});

Deno.test("steering as a function: the messages are copies, each with its own id", async () => {
  const message = note("again");
  let calls = 0;
  const { events } = await runLoop([reply("One"), reply("Two"), reply("Three")], {
    steering: () => ++calls <= 2 ? [message] : [],
  });
  Object.assign(message.content[0] ?? {}, { text: "changed" });
  const [end] = eventsOfType(events, "agent_end");
  const again = (end?.messages ?? []).filter((message) => message.role === "user").slice(1);
  assertEquals(outlineMessages(again), ["user: again", "user: again"]);
  assertEquals(new Set(again.map(({ id }) => id)).size, 2);
});

Deno.test("agentLoopContinue(): a function as a queue does not count as queued messages", async () => {
  const streamFn = scriptedStream([reply("Hello")]);
  const context = { systemPrompt: "", messages: [note("Hi")], tools: [] };
  const config = { model: modelSpec("test/model"), streamFn, ...scriptedPorts() };
  const events = await checkEvents(
    agentLoopContinue(context, { ...config, followUp: () => [] }),
  );
  assertEquals(outlineEvents(events).slice(-2), ["turn_end complete", "agent_end"]);
});

Deno.test("steering as a function: the messages after several calls of a batch all arrive, in order", async () => {
  const source = lists([], [note("one")], [note("two"), note("three")]);
  const { history } = await runLoop(
    [reply([toolCall("look"), toolCall("look")]), reply("Done")],
    { steering: source.get, interrupt: "after_batch" },
    { tools: [fakeTool({ name: "look" })] },
  );
  assertEquals(history.slice(4), ["user: one", "user: two", "user: three", "assistant: Done"]);
});

Deno.test("steering as a function: a call that fails keeps the messages of the calls before it", async () => {
  const source = lists([], [note("one")]);
  let calls = 0;
  const { history, events } = await runLoop(
    [reply([toolCall("look"), toolCall("look")]), reply("Done")],
    {
      interrupt: "after_batch",
      steering: () => ++calls === 3 ? Promise.reject(new Error("no socket")) : source.get(),
    },
    { tools: [fakeTool({ name: "look", sequential: true })] },
  );
  assertEquals(history.slice(4), ["user: one", "assistant: Done"]);
  assertEquals(eventsOfType(events, "warning").map(({ code }) => code), ["message_source_failed"]);
});

Deno.test("steering as a function: is not called before tool calls that were approved, which may wait again", async () => {
  const log: string[] = [];
  const write = fakeTool({ name: "write", result: () => (log.push("write"), "ok") });
  const call = toolCall("write", {}, { id: "1" });
  const context = {
    systemPrompt: "",
    messages: [note("Go"), assistantMessage([call])],
    tools: [write],
  };
  const pending = { pendingApprovals: [{ toolCallId: "1", name: "write", arguments: {} }] };
  const config: AgentLoopConfig = {
    model: modelSpec("test/model"),
    streamFn: scriptedStream([reply("Done")]),
    approve: () => true,
    steering: () => (log.push("steering"), []),
  };
  await checkEvents(agentLoopContinue(context, config, { pending, approvals: { 1: true } }));
  assertEquals(log.slice(0, 2), ["write", "steering"]);
});

Deno.test("steering as a function: several failures in a row are reported once", async () => {
  const failing = [true, true, false, true, true, true];
  const { events } = await runLoop(
    [reply([toolCall("look"), toolCall("look"), toolCall("look")]), reply("Done")],
    { steering: () => failing.shift() ? Promise.reject(new Error("no socket")) : [] },
    { tools: [fakeTool({ name: "look", sequential: true })] },
  );
  const warnings = eventsOfType(events, "warning").map(({ code }) => code);
  assertEquals(warnings, Array(2).fill("message_source_failed"));
});

for (const queue of ["steering", "followUp"] as const) {
  Deno.test(`${queue} as a function: a run that is aborted before it starts does not call it, so that no message is lost`, async () => {
    const streamFn = scriptedStream([]);
    const source = lists([note("later")]);
    const context = { systemPrompt: "", messages: [], tools: [] };
    const config = { model: modelSpec("test/model"), streamFn, ...scriptedPorts() };
    const events = await checkEvents(
      agentLoop([note("Go")], context, { ...config, [queue]: source.get }, {
        signal: AbortSignal.abort("enough"),
      }),
    );
    assertEquals(eventsOfType(events, "agent_end")[0]?.stopReason, "aborted");
    assertEquals(source.calls, 0);
  });
}

Deno.test("steering as a function: is not called after an abort during a tool call, so that no message is lost", async () => {
  const controller = new AbortController();
  const source = lists([], [note("later")]);
  const look = {
    ...fakeTool({ name: "look" }),
    execute: () => (controller.abort("enough"), Promise.resolve("seen")),
  };
  const context = { systemPrompt: "", messages: [], tools: [look] };
  const streamFn = scriptedStream([reply([toolCall("look")])]);
  const config = { model: modelSpec("test/model"), streamFn, ...scriptedPorts() };
  const events = await checkEvents(
    agentLoop([note("Go")], context, { ...config, steering: source.get }, controller),
  );
  assertEquals(eventsOfType(events, "agent_end")[0]?.stopReason, "aborted");
  assertEquals(source.calls, 1);
});

/** A tool that starts work in the background. */
function createWorkTool(work: () => Promise<string>): AgentTool {
  return defineTool({
    name: "work",
    description: "Works.",
    parameters: { type: "object" },
    execute: (_args, { run }) => {
      run.background(work);
      return "started";
    },
  });
}

/** Runs a prompt whose tool starts work, for whose end the run waits before it ends with a pending approval. */
async function runWithReport(followUp: MessageSource) {
  const work = createWorkTool(() => settle().then(() => "The build passed"));
  return await runLoop(
    [reply([toolCall("work")]), reply([toolCall("danger")])],
    { followUp, approve: ({ name }) => name === "danger" ? { type: "pending" } : true },
    { tools: [work, fakeTool({ name: "danger" })] },
  );
}

Deno.test("steering as a function: is called before the turn with the message of work in the background", async () => {
  const pending: AgentMessage[] = [];
  const work = createWorkTool(async () => {
    await settle();
    pending.push(note("faster"));
    return "The build passed";
  });
  const { history } = await runLoop(
    [reply([toolCall("work")]), reply("I wait"), reply("Done")],
    { steering: () => pending.splice(0) },
    { tools: [work] },
  );
  assertEquals(history.slice(3), [
    "assistant: I wait",
    "user: The build passed",
    "user: faster",
    "assistant: Done",
  ]);
});

for (
  const [title, requeue] of Object.entries({
    throws: broken,
    rejects: () => Promise.reject(new Error("no socket")),
  })
) {
  Deno.test(`followUp as a queue whose requeue() ${title}: the run ends with a warning`, async () => {
    const source = { peek: () => [], take: () => [], requeue } as unknown as MessageSource;
    const { events } = await runWithReport(source);
    assertEquals(
      eventsOfType(events, "warning").map(({ code }) => code),
      ["message_source_failed"],
    );
    assertEquals(events.at(-1)?.type, "agent_end");
  });
}

Deno.test("queues: a run that has waited for work no longer follows them", async () => {
  const listeners = { steering: 0, followUp: 0 };
  const create = (name: keyof typeof listeners): MessageSource => ({
    peek: () => [],
    take: () => [],
    onArrival() {
      listeners[name]++;
      return () => listeners[name]--;
    },
  });
  const work = defineTool({
    name: "work",
    description: "Works.",
    parameters: { type: "object" },
    execute: (_args, { run }) => {
      for (let count = 0; count < 3; count++) run.background(() => settle().then(() => []));
      return "started";
    },
  });
  const queues = { steering: create("steering"), followUp: create("followUp") };
  await runLoop([reply([toolCall("work")]), reply("Done")], queues, { tools: [work] });
  assertEquals(listeners, { steering: 0, followUp: 0 });
});
