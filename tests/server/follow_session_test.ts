import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import {
  type Conversation,
  createConversation,
  followSession,
  type SessionEvent,
  type SessionRequest,
  updateConversation,
} from "../../src/client/mod.ts";
import { AgentError } from "../../src/core/errors/errors.ts";
import type { SessionEntry } from "../../src/core/sessions/session_entry.ts";
import { InMemorySessionStore, openSession } from "../../src/memory/mod.ts";
import { Agent } from "../../mod.ts";
import {
  fail,
  fakeTool,
  reply,
  scriptedStream,
  thinking,
  toolCall,
} from "../../src/testing/mod.ts";
import { TestServer, TOKENS } from "./server_fixture.ts";

const sleep = (): Promise<void> => Promise.resolve();

function connectTo(test: TestServer, id: string, token: string = TOKENS.acme) {
  return ({ headers, signal }: SessionRequest) =>
    test.call("GET", `/v1/sessions/${id}/events`, { headers: { ...headers }, signal, token });
}

/** Cuts the bodies of responses off, each after a number of bytes. */
function cutOff(connect: ReturnType<typeof connectTo>, cuts: readonly number[]) {
  let count = 0;
  return async (request: SessionRequest): Promise<Response> => {
    const response = await connect(request);
    let left = cuts[count++] ?? Infinity;
    const body = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          controller.enqueue(bytes.subarray(0, left));
          left -= bytes.length;
          if (left <= 0) controller.error(new TypeError("The connection was cut off"));
        },
      }),
    );
    return new Response(body, response);
  };
}

/** Follows a session until an event, and returns its conversation. */
async function follow(
  events: AsyncIterable<SessionEvent>,
  isEnd: (event: SessionEvent) => boolean,
): Promise<Conversation> {
  let conversation = createConversation();
  for await (const event of events) {
    conversation = updateConversation(conversation, event);
    if (isEnd(event)) break;
  }
  return conversation;
}

/** Returns a check for the state of an idle session after a number of runs. */
function createEndCheck(runs: number): (event: SessionEvent) => boolean {
  let ended = 0;
  return (event) => {
    if (event.type === "reset") ended = 0;
    if (event.type === "entry" && event.entry.type === "run_ended") ended++;
    return event.type === "state" && event.state.status !== "running" && ended >= runs;
  };
}

function createServer(): TestServer {
  const streamFn = scriptedStream([
    reply([thinking("A tool."), toolCall("work"), toolCall("missing")]),
    reply("The first answer, which has several parts, so that it is streamed as such."),
    fail("auth_error", "No key"),
  ]);
  return new TestServer({ agent: { streamFn, tools: [fakeTool({ name: "work" })] } });
}

async function readMessages(test: TestServer, id: string): Promise<unknown[]> {
  const { entries } = await test.json(200, "GET", `/v1/sessions/${id}/entries?limit=200`);
  return entries.flatMap(({ message }: { message?: object }) => message ? [message] : []);
}

Deno.test("followSession(): a conversation is that of the log when the connection is cut off anywhere", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 4_000 }), { maxLength: 10 }),
      async (cuts) => {
        const test = createServer();
        const id = await test.create();
        const connect = cutOff(connectTo(test, id), cuts);
        const following = follow(followSession(connect, { sleep }), createEndCheck(2));
        await test.prompt(id, "First");
        await test.waitForIdle(id);
        await test.prompt(id, "Second");
        const conversation = await following;
        assertEquals<unknown>(conversation.messages, await readMessages(test, id));
        assertEquals(conversation.messages.length, 6);
        const { error, isRunning, runningCalls, streamingMessage } = conversation;
        assertEquals([error?.message, isRunning, runningCalls.length, streamingMessage], [
          "No key",
          false,
          0,
          undefined,
        ]);
        await test.server.close();
      },
    ),
    { numRuns: 30 },
  );
});

Deno.test("followSession(): a conversation has the branch of the last entry", async () => {
  const store = new InMemorySessionStore();
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream(["one", "two", "three", "four"].map((text) => reply(text))),
  });
  {
    await using session = await openSession(store, { id: "s", tenant: "acme" }, agent);
    await agent.prompt("First");
    const { leafId } = session.session;
    await agent.prompt("Second");
    await session.rewind(leafId);
    await agent.prompt("Third");
    await session.rewind(leafId);
  }
  const test = new TestServer({ store });
  const isState = ({ type }: SessionEvent) => type === "state";
  const { messages } = await follow(followSession(connectTo(test, "s")), isState);
  assertEquals(messages, agent.state.messages);
  assertEquals(messages.length, 2);
  await test.server.close();
});

Deno.test("updateConversation(): a conversation of 20,000 entries is plain JSON", () => {
  let conversation = createConversation();
  for (let index = 0; index < 20_000; index++) {
    const parentId = index === 0 ? null : `${index - 1}`;
    const entry: SessionEntry = {
      type: "title",
      title: "",
      id: `${index}`,
      parentId,
      timestamp: 0,
    };
    conversation = updateConversation(conversation, { type: "entry", entry });
  }
  assertEquals(structuredClone(conversation), createConversation());
  assertEquals(JSON.parse(JSON.stringify(conversation)), createConversation());
});

Deno.test("followSession() ends when the session is deleted, and throws for one that does not exist", async () => {
  const test = createServer();
  const id = await test.create();
  let conversation = createConversation();
  for await (const event of followSession(connectTo(test, id))) {
    conversation = updateConversation(conversation, event);
    if (event.type === "state") await test.json(204, "DELETE", `/v1/sessions/${id}`);
  }
  const missing = followSession(connectTo(test, id));
  const error = await assertRejects(() => follow(missing, () => false), AgentError);
  assertEquals(error.status, 404);
  const denied = followSession(connectTo(test, id, "test-token-of-no-tenant"));
  assertEquals((await assertRejects(() => follow(denied, () => false), AgentError)).status, 401);
  await test.server.close();
});

Deno.test("followSession() follows a session to the next server with the same store", async () => {
  const store = new InMemorySessionStore();
  const agent = { streamFn: scriptedStream([reply("One"), reply("Two")]) };
  let test = new TestServer({ store, agent });
  const id = await test.create();
  await test.prompt(id, "First");
  await test.waitForIdle(id);
  let conversation = createConversation();
  let connections = 1;
  let closing: Promise<unknown> | undefined;
  const connect = (request: SessionRequest) => connectTo(test, id)(request);
  for await (const event of followSession(connect, { sleep })) {
    conversation = updateConversation(conversation, event);
    if (event.type === "state") closing ??= test.server.close();
    if (conversation.messages.length === 4 && !conversation.isRunning) break;
    if (event.type !== "disconnected") continue;
    connections++;
    await closing;
    test = new TestServer({ store, agent });
    await test.prompt(id, "Second");
  }
  await test.waitForIdle(id);
  assertEquals<unknown>(conversation.messages, await readMessages(test, id));
  assertEquals(connections, 2);
  await test.server.close();
});
