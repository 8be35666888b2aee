import { assertEquals, assertThrows } from "@std/assert";
import { Agent, type AgentMessage, BadRequestError } from "../../mod.ts";
import { InMemorySessionStore, openSession } from "../../src/memory/mod.ts";
import { reply, scriptedStream } from "../../src/testing/mod.ts";

/** A message as untyped code may write it. */
function createMessage(more: object): AgentMessage {
  const content = [{ type: "text", text: "Hello" }];
  return { role: "user", content, ...more } as unknown as AgentMessage;
}

function createAgent(messages: readonly AgentMessage[] = []): Agent {
  const streamFn = scriptedStream([reply("Hi")]);
  return new Agent({ model: "any/model", streamFn, now: () => 7, messages });
}

/** The ways to set the history of an agent. */
const SETTERS = {
  "new Agent()": (messages: readonly AgentMessage[]) => createAgent(messages),
  "setMessages()": (messages: readonly AgentMessage[]) => {
    const agent = createAgent();
    agent.setMessages(messages);
    return agent;
  },
  "appendMessages()": (messages: readonly AgentMessage[]) => {
    const agent = createAgent();
    agent.appendMessages(messages);
    return agent;
  },
};

for (const [name, setMessages] of Object.entries(SETTERS)) {
  Deno.test(`${name}: a message without a timestamp gets the current time, so that a session can record it`, async () => {
    const kept = createMessage({ timestamp: 5 });
    const agent = setMessages([createMessage({}), kept, createMessage({ timestamp: undefined })]);
    assertEquals(agent.state.messages.map(({ timestamp }) => timestamp), [7, 5, 7]);
    assertEquals(agent.state.messages[1] === kept, true, "others stay as they are");
    const store = new InMemorySessionStore();
    const session = await openSession(store, { id: "s" }, agent);
    const { text, abortReason } = await agent.prompt("Hello");
    assertEquals([text, abortReason], ["Hi", undefined]);
    await session.close();
    const next = createAgent();
    await using _session = await openSession(store, { id: "s" }, next);
    assertEquals(next.state.messages.map(({ timestamp }) => timestamp), [7, 5, 7, 7, 7]);
  });

  Deno.test(`${name}: refuses a timestamp that is no number`, () => {
    for (const timestamp of ["5", null, NaN]) {
      assertThrows(
        () => setMessages([createMessage({ timestamp })]),
        BadRequestError,
        "Invalid message: its timestamp must be a number",
      );
    }
  });
}
