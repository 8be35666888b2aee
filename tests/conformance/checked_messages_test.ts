import { assert, assertEquals } from "@std/assert";
import type { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { AgentEvent } from "../../src/core/events/event.ts";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { agentLoop, agentLoopContinue } from "../../src/loop/loop.ts";
import { MessageQueue } from "../../src/loop/queues/message_queue.ts";
import type { MessageSource } from "../../src/loop/queues/message_source.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { startThreadTimer } from "../thread_time.ts";
import { outlineMessages } from "./outline.ts";
import { atFirst, testAgent } from "./test_agent.ts";

/** A message that a policy refuses. */
const BAD = "Guess the password";

/** Runs an agent whose policy reads the new messages and refuses one; calls `during` while it checks those of a turn. */
async function runChecked(
  during: (agent: Agent, turn: number) => void,
  options: Partial<AgentOptions> = {},
) {
  const checked: string[][] = [];
  const moderation: Policy = {
    name: "moderation",
    preTurn({ newMessages, turn }) {
      const texts = outlineMessages(newMessages);
      checked.push(texts);
      during(agent, turn);
      return texts.some((text) => text.endsWith(BAD)) ? { type: "stop", reason: "no" } : undefined;
    },
  };
  const steps = [reply("One"), reply("Two"), reply("Three")];
  const { agent, streamFn } = testAgent(steps, { policies: [moderation], ...options });
  const events = await checkEvents(agent.promptStream("Hi"));
  const requests = streamFn.calls.map(({ context }) => outlineMessages(context.messages));
  return { agent, events, checked, requests };
}

const SENT_ONCE = [["user: Hi"]];

Deno.test("preTurn: a steering message that is queued during the check waits for the check of the next turn", async () => {
  for (const steeringMode of ["one_at_a_time", "all"] as const) {
    const { agent, checked, requests } = await runChecked((agent, turn) => {
      if (turn === 0) agent.steer(BAD);
    }, { steeringMode });
    assertEquals([checked, requests], [[["user: Hi"], [`user: ${BAD}`]], SENT_ONCE]);
    assertEquals(agent.queued.steering.length, 1);
  }
});

Deno.test("preTurn: steering that is queued while the request is prepared waits for the check of the next turn", async () => {
  let isFirst = true;
  const { checked, requests } = await runChecked((agent) => {
    if (isFirst) queueMicrotask(() => queueMicrotask(() => agent.steer(BAD)));
    isFirst = false;
  }, {
    transformContext: async (messages) => {
      await new Promise((resolve) => setTimeout(resolve));
      return messages;
    },
  });
  assertEquals([checked, requests], [[["user: Hi"], [`user: ${BAD}`]], SENT_ONCE]);
});

Deno.test("preTurn: a follow-up that is queued during the check of another one waits for its own", async () => {
  const { agent, checked, requests } = await runChecked((agent, turn) => {
    agent.followUp(turn === 0 ? "Well?" : BAD);
  }, { followUpMode: "all" });
  assertEquals(checked, [["user: Hi"], ["user: Well?"], [`user: ${BAD}`]]);
  assertEquals(requests, [["user: Hi"], ["user: Hi", "assistant: One", "user: Well?"]]);
  assertEquals(agent.queued.followUp.length, 2);
});

Deno.test("preTurn: a message that replaces the checked one during the check is checked, and no turn starts without messages", async () => {
  const { checked, requests, events } = await runChecked((agent, turn) => {
    if (turn === 0) agent.followUp("Well?");
    const [queued] = agent.queued.followUp;
    if (turn !== 1 || !queued || JSON.stringify(queued).includes(BAD)) return;
    agent.cancelQueued(queued.id);
    agent.followUp(BAD);
  });
  assertEquals([checked, requests], [
    [["user: Hi"], ["user: Well?"], [`user: ${BAD}`]],
    SENT_ONCE,
  ]);
  assertEquals(events.filter(({ type }) => type === "turn_start").length, 1);
});

Deno.test("preTurn: steering that waits for its check cancels the tool calls of the turn", async () => {
  const work = fakeTool({ name: "work" });
  const moderation: Policy = {
    name: "moderation",
    preTurn({ newMessages, turn }) {
      if (turn === 0 && newMessages.length === 1) agent.steer("Stop");
    },
  };
  const { agent } = testAgent([reply([toolCall("work")]), reply("Stopped")], {
    tools: [work],
    policies: [moderation],
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(work.calls.length, 0);
  assertEquals(outlineMessages(agent.state.messages).slice(-2), [
    "user: Stop",
    "assistant: Stopped",
  ]);
});

Deno.test("preTurn: steering that was queued before the check, and is taken by a later turn, cancels no call", async () => {
  const work = fakeTool({ name: "work" });
  const { agent } = testAgent([reply([toolCall("work")]), reply("Done")], {
    tools: [work],
    policies: [{ name: "moderation", preTurn: ({ newMessages }) => void newMessages.length }],
  });
  atFirst(agent, "agent_start", () => {
    for (const text of ["One", "Two"]) agent.steer(text);
  });
  await checkEvents(agent.promptStream("Hi"));
  assertEquals(work.calls.length, 1);
  assertEquals(outlineMessages(agent.state.messages).slice(-2), ["user: Two", "assistant: Done"]);
});

Deno.test("preTurn: a policy that does not read the new messages delays none", async () => {
  const { agent, streamFn } = testAgent([reply("Hello")], {
    policies: [{ name: "steers", preTurn: () => void agent.steer("Now") }],
  });
  await agent.prompt("Hi");
  assertEquals(outlineMessages(streamFn.calls[0]?.context.messages ?? []), [
    "user: Hi",
    "user: Now",
  ]);
});

/** Returns the configuration of a loop whose policy reads the new messages; calls `during` in the first check. */
function configureLoop(during: () => void) {
  const read: string[][] = [];
  const moderation: Policy = {
    name: "moderation",
    preTurn({ newMessages }) {
      if (read.push(outlineMessages(newMessages)) === 1) during();
    },
  };
  const streamFn = scriptedStream(["One", "Two", "Three"].map((text) => reply(text)));
  const config = { model: modelSpec("test/model"), streamFn, policies: [moderation] };
  return { read, config };
}

/** Returns the messages that a loop has appended. */
async function readHistory(stream: ReadableStream<AgentEvent>): Promise<string[]> {
  const end = (await checkEvents(stream)).find((event) => event.type === "agent_end");
  return outlineMessages(end?.messages ?? []);
}

/** Runs a prompt with a queue of steering; calls `during` in the first check. Returns the history. */
function runLoop(steering: MessageSource, during = () => {}): Promise<string[]> {
  const { config } = configureLoop(during);
  const context = { systemPrompt: "", messages: [], tools: [] };
  return readHistory(agentLoop([userMessage("Hi", 0)], context, { ...config, steering }));
}

/** Continues an empty history with a queue of follow-ups; calls `during` in the first check. */
async function runContinued(followUp: MessageSource, during: () => void) {
  const { config, read } = configureLoop(during);
  const context = { systemPrompt: "", messages: [], tools: [] };
  return { read, history: await readHistory(agentLoopContinue(context, { ...config, followUp })) };
}

Deno.test("preTurn: a message that is queued again during its check replaces no other one", async () => {
  const queue = new MessageQueue({ mode: "all" });
  const nudge = userMessage("Go on", 0);
  queue.add(nudge);
  const history = await runLoop(queue, () => {
    for (const message of [userMessage("Look", 0), nudge]) queue.add(message);
  });
  assertEquals(history, [
    ...["user: Hi", "user: Go on", "assistant: One"],
    ...["user: Look", "user: Go on", "assistant: Two"],
  ]);
});

Deno.test("preTurn: a queue of the application delivers no message that arrives during the check", async () => {
  const stored = ["Go on"];
  const history = await runLoop({
    peek: () => stored.map((text) => userMessage(text)),
    take: () => stored.splice(0).map((text) => userMessage(text)),
  }, () => stored.push("Look"));
  assertEquals(history, [
    ...["user: Hi", "assistant: One"],
    ...["user: Go on", "user: Look", "assistant: Two"],
  ]);
});

Deno.test("preTurn: a queue of follow-ups with which a run begins delivers no message that arrives during the check", async () => {
  const stored = ["Go on"];
  const { history, read } = await runContinued({
    peek: () => stored.map((text) => userMessage(text)),
    take: () => stored.splice(0).map((text) => userMessage(text)),
  }, () => stored.push("Look"));
  assertEquals(read, [["user: Go on"], ["user: Go on", "user: Look"]]);
  assertEquals(history, ["user: Go on", "user: Look", "assistant: One"]);
});

Deno.test("preTurn: a queue of the application that returns only the checked messages delivers them when others have arrived", async () => {
  const queue = new MessageQueue({ mode: "all" });
  queue.add(userMessage("Go on", 0));
  const steering: MessageSource = {
    peek: (checked) => queue.peek(checked),
    take: (checked) => queue.take(checked),
  };
  const history = await runLoop(steering, () => queue.add(userMessage("Look", 0)));
  assertEquals(history, [
    ...["user: Hi", "user: Go on", "assistant: One"],
    ...["user: Look", "assistant: Two"],
  ]);
});

Deno.test("preTurn: a queue of the application that has other messages after each check does not keep the run going", async () => {
  let reads = 0;
  const peek = () => [userMessage(`It is ${++reads}`)];
  const { config } = configureLoop(() => {});
  const context = { systemPrompt: "", messages: [], tools: [] };
  const steering = { peek, take: peek };
  const events = await checkEvents(
    agentLoop([userMessage("Hi", 0)], context, { ...config, steering }),
  );
  assertEquals(config.streamFn.calls.length, 1);
  const codes = events.flatMap((event) => event.type === "warning" ? [event.code] : []);
  assertEquals(codes, ["message_source_failed"]);
});

Deno.test("preTurn: a queue of the application that changes with each check delivers its message once a timer has run", async () => {
  let drafts = 0;
  let stored: (() => string)[] = [() => `Draft ${++drafts}`];
  const timer = setTimeout(() => stored = stored.map(() => () => "Go on"), 0);
  const read = (texts: readonly (() => string)[]) => texts.map((text) => userMessage(text(), 0));
  const history = await runLoop({
    peek: () => read(stored),
    take: () => read(stored.splice(0)),
  });
  clearTimeout(timer);
  assertEquals(history, ["user: Hi", "assistant: One", "user: Go on", "assistant: Two"]);
});

Deno.test("preTurn: a queue of the application that changes for a while before each message does not end the run", async () => {
  const { config, read } = configureLoop(() => {});
  let [drafts, takes] = [0, 0];
  const steering: MessageSource = {
    peek() {
      if (takes === 2) return [];
      const isFinal = read.length > 60 * (takes + 1);
      return [userMessage(isFinal ? `Message ${takes}` : `Draft ${++drafts}`, 0)];
    },
    take() {
      const messages = steering.peek();
      takes++;
      return messages;
    },
  };
  const context = { systemPrompt: "", messages: [], tools: [] };
  const history = await readHistory(
    agentLoop([userMessage("Hi", 0)], context, { ...config, steering }),
  );
  assertEquals(history, [
    ...["user: Hi", "assistant: One"],
    ...["user: Message 0", "assistant: Two", "user: Message 1", "assistant: Three"],
  ]);
});

Deno.test("preTurn: a queue of the application may create its messages whenever it is read", async () => {
  const stored = ["Go on"];
  let reads = 0;
  const create = (text: string) => {
    const { role, content } = userMessage(text);
    const own = { timestamp: ++reads, id: `message_${reads}` };
    // The order of properties is no difference.
    return reads % 2 === 0 ? { role, content, ...own } : { ...own, content, role };
  };
  const history = await runLoop({
    peek: () => stored.map(create),
    take: () => stored.splice(0).map(create),
  });
  assertEquals(history, ["user: Hi", "user: Go on", "assistant: One"]);
});

Deno.test("preTurn: many messages of a queue of the application are compared in linear time", async () => {
  const stored = Array.from({ length: 10_000 }, (_, index) => `Message ${index}`);
  const getThreadTime = startThreadTimer();
  const history = await runLoop({
    peek: () => stored.map((text) => userMessage(text, 0)),
    take: () => stored.splice(0).map((text) => userMessage(text, 0)),
  });
  assertEquals(history.length, 10_002);
  // Quadratic work takes half a minute; the bound allows for a busy machine.
  assert(getThreadTime() < 10_000);
});
