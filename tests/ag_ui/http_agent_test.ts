import { HttpAgent } from "@ag-ui/client";
import { EventSchema } from "@ag-ui/core/schemas";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { Agent, type AgentMessage, BadRequestError, extractText, SessionError } from "../../mod.ts";
import { agUiHandler, type AgUiHandlerOptions, toAgUi } from "../../src/protocols/ag_ui/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { fail, fakeTool, hang, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { waitUntil } from "../wait_until.ts";
import { Client, connect } from "./test_client.ts";

const usage = {
  input: 10,
  output: 5,
  cacheRead: 100,
  cacheWrite: 20,
  total: 135,
  extra: { reasoning: 2 },
};

Deno.test("agUiHandler(): streams text, reasoning and tool calls to the client of the protocol", async () => {
  const streamFn = scriptedStream([
    reply([
      { type: "thinking", thinking: "Hm" },
      { type: "text", text: "Let me look." },
      toolCall("weather", { city: "Bern" }, { id: "c1" }),
      { type: "text", text: "One moment." },
    ], { usage }),
    reply("It is sunny."),
  ]);
  const tools = [fakeTool({ name: "weather", result: "Sunny" })];
  const client = connect({ streamFn, tools });
  const { newMessages } = await client.send("How is the weather?");
  assertEquals(newMessages.map(({ id: _id, ...message }) => message), [
    { role: "reasoning", content: "Hm" },
    {
      role: "assistant",
      content: "Let me look.",
      toolCalls: [{
        id: "c1",
        type: "function",
        function: { name: "weather", arguments: '{"city":"Bern"}' },
      }],
    },
    { role: "tool", toolCallId: "c1", content: "Sunny" },
    { role: "assistant", content: "One moment." },
    { role: "assistant", content: "It is sunny." },
  ]);
  assertEquals(client.types.filter((type) => type !== "CUSTOM"), [
    "RUN_STARTED",
    "STATE_SNAPSHOT",
    "STEP_STARTED",
    "STATE_DELTA",
    "REASONING_START",
    "REASONING_MESSAGE_START",
    "REASONING_MESSAGE_CONTENT",
    "REASONING_MESSAGE_END",
    "REASONING_END",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "TOOL_CALL_START",
    "TOOL_CALL_ARGS",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "TOOL_CALL_END",
    "TOOL_CALL_RESULT",
    "STEP_FINISHED",
    "STEP_STARTED",
    "STATE_DELTA",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "STEP_FINISHED",
    "RUN_FINISHED",
  ]);
  const { outcome, result, usage: counts } = client.last("RUN_FINISHED");
  assertEquals([outcome, result], [{ type: "success" }, "It is sunny."]);
  assertEquals(counts, [{
    provider: "test",
    model: "model",
    inputTokens: 130,
    outputTokens: 5,
    totalTokens: 135,
    cachedInputTokens: 100,
    cacheWriteInputTokens: 20,
    reasoningTokens: 2,
  }]);
  assertEquals(client.state, { turn: 2, queued: { steering: 0, followUp: 0 } });
});

Deno.test("agUiHandler(): an agent without history gets that of the client, one with a history the new messages", async () => {
  for (const isNew of [true, false]) {
    const requests: string[][] = [];
    const createAgent = () => {
      const scripted = scriptedStream([reply("One"), reply("Two")]);
      return new Agent({
        model: "test/model",
        streamFn: (request) => {
          requests.push(request.context.messages.map(({ role }) => role));
          return scripted(request);
        },
      });
    };
    const kept = createAgent();
    const client = new Client(() => isNew ? createAgent() : kept);
    await client.send("First");
    await client.send("Second");
    assertEquals(requests, [["user"], ["user", "assistant", "user"]]);
  }
});

Deno.test("agUiHandler(): results in the history of the client have the names of their tools, and errors their text", async () => {
  let results: readonly AgentMessage[] = [];
  const agent = new Agent({
    model: "test/model",
    streamFn: (request) => {
      results = request.context.messages.filter(({ role }) => role === "tool_result");
      return scriptedStream([reply("Done")])(request);
    },
  });
  const toCall = (id: string, name: string) => ({
    id,
    type: "function",
    function: { name, arguments: "{}" },
  });
  const body = JSON.stringify({
    threadId: "t",
    runId: "r",
    messages: [
      { id: "1", role: "user", content: "Go" },
      { id: "2", role: "assistant", toolCalls: [toCall("a", "look"), toCall("b", "find")] },
      { id: "3", role: "tool", toolCallId: "b", content: "B" },
      { id: "4", role: "tool", toolCallId: "a", content: "", error: "It is closed" },
      { id: "5", role: "user", content: "And now?" },
    ],
  });
  const handler = agUiHandler({ createAgent: () => agent });
  const response = await handler(new Request("http://localhost/", { method: "POST", body }));
  await response.text();
  const described = results.flatMap((message) =>
    message.role === "tool_result"
      ? [`${message.toolName} ${message.isError}: ${extractText(message.content)}`]
      : []
  );
  assertEquals(described.toSorted(), ["find false: B", "look true: It is closed"]);
});

Deno.test("agUiHandler(): the state of the client keeps its members", async () => {
  const client = connect({ streamFn: scriptedStream([reply("Hi")]) });
  client.state = { cart: [1, 2], turn: 9 };
  await client.send("Hello");
  const queued = { steering: 0, followUp: 0 };
  assertEquals(client.state, { cart: [1, 2], turn: 1, queued });
  const other = connect({ streamFn: scriptedStream([reply("Hi")]) });
  other.state = ["no", "object"];
  await other.send("Hello");
  assertEquals(other.state, { turn: 1, queued });
});

Deno.test("agUiHandler(): comments keep the connection while a tool runs, and the client ignores them", async () => {
  const ticks: (() => void)[] = [];
  const finish = Promise.withResolvers<string>();
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply([toolCall("slow")]), reply("Done")]),
    tools: [{ ...fakeTool({ name: "slow" }), execute: () => finish.promise }],
  });
  const sleeps = new Set<number>();
  const handler = agUiHandler({
    createAgent: () => agent,
    keepAliveMs: 20_000,
    sleep: (milliseconds, signal) => {
      sleeps.add(milliseconds);
      const { promise, resolve } = Promise.withResolvers<void>();
      signal?.addEventListener("abort", () => resolve());
      ticks.push(resolve);
      return promise;
    },
  });
  let text = "";
  const client = new HttpAgent({
    url: "http://localhost/agent",
    fetch: async (url, init) => {
      const { body, ...response } = await handler(new Request(url, init));
      const observed = body?.pipeThrough(
        new TransformStream({
          transform(chunk: Uint8Array, controller) {
            text += new TextDecoder().decode(chunk);
            controller.enqueue(chunk);
          },
        }),
      );
      return new Response(observed ?? null, response);
    },
  });
  client.addMessage({ id: "m1", role: "user", content: "Hello" });
  const ended = client.runAgent();
  await waitUntil(() => agent.state.isRunning && text.includes("tool_execution_start"));
  assert(!text.includes(": no event yet"));
  for (let count = 1; count <= 2; count++) {
    await waitUntil(() => {
      ticks.at(-1)?.();
      return text.split(": no event yet\n\n").length > count;
    });
  }
  finish.resolve("ok");
  const { newMessages } = await ended;
  assertEquals(newMessages.at(-1)?.content, "Done");
  assertEquals([...sleeps], [20_000]);
});

Deno.test("agUiHandler(): sends a comment after 8 seconds, and none for 0", async () => {
  for (const [keepAliveMs, expected] of [[undefined, 8_000], [0, Infinity]] as const) {
    const sleeps = new Set<number>();
    const handler = agUiHandler({
      createAgent: () =>
        new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hi")]) }),
      keepAliveMs,
      sleep: (milliseconds) => {
        sleeps.add(milliseconds);
        return new Promise(() => {});
      },
    });
    const messages = [{ id: "m1", role: "user", content: "Hello" }];
    const body = JSON.stringify({ threadId: "t", runId: "r", messages });
    const response = await handler(new Request("http://localhost/", { method: "POST", body }));
    assertEquals(response.headers.get("cache-control"), "no-store, no-transform");
    assertStringIncludes(await response.text(), "RUN_FINISHED");
    assertEquals([...sleeps], [expected]);
  }
});

Deno.test("agUiHandler(): refuses options that would remove a limit or do not exist", () => {
  const createAgent = () => new Agent({ model: "test/model" });
  for (const name of ["maxBytes", "keepAliveMs"]) {
    const create = () => agUiHandler({ createAgent, [name]: NaN });
    assertThrows(create, BadRequestError, `${name} must be a number`);
  }
  const misspelt = { createAgent, maxByte: 1 } as AgUiHandlerOptions;
  assertThrows(() => agUiHandler(misspelt), BadRequestError, "maxByte");
});

Deno.test("agUiHandler(): files of a message reach the model, as data and as URLs", async () => {
  const script = scriptedStream([reply("I see")]);
  const client = connect({ streamFn: script });
  const urls = ["data:image/png;base64,AAAA", "https://a.example/b.png"];
  client.addMessage({
    id: "m",
    role: "user",
    content: urls.map((value) => ({ type: "image", source: { type: "url", value } })),
  });
  await client.runAgent();
  const [sent] = script.calls[0]?.context.messages ?? [];
  const images = urls.map((url) => ({ type: "image", source: { type: "url", url } }) as const);
  assertEquals(sent?.role === "user" && sent.content, images);
});

Deno.test("agUiHandler(): each text of a result is a line of its own", async () => {
  const content = [{ type: "text", text: "One" }, { type: "text", text: "Two" }] as const;
  const client = connect({
    streamFn: scriptedStream([reply([toolCall("look")]), reply("Done")]),
    tools: [fakeTool({ name: "look", result: { content } })],
  });
  await client.send("Hello");
  assertEquals(client.last("TOOL_CALL_RESULT")["content"], "One\nTwo");
});

Deno.test("agUiHandler(): a retry takes back what the failed attempt has written", async () => {
  const streamFn = scriptedStream([
    fail("network_error", "down", { after: "Wro" }),
    reply("Right"),
  ]);
  const client = connect({ streamFn, retry: () => 0, sleep: () => Promise.resolve() });
  await client.send("Hello");
  assertEquals(client.messages.map(({ content }) => content), ["Hello", "Right"]);
});

Deno.test("agUiHandler(): sub-agents have events of their own, nested ones too", async () => {
  const streamFn = scriptedStream([
    reply([toolCall("explore", { prompt: "Look" }, { id: "c1" })]),
    reply([toolCall("look", {}, { id: "c2" })]),
    reply("Seen"),
    reply("Done"),
  ]);
  const explore = subAgentTool({ name: "explore", description: "Looks around." });
  const look = fakeTool({ name: "look", readOnly: true });
  const client = connect({ streamFn, tools: [explore, look] });
  await client.send("Hello");
  const { subagentRunId, name, parentToolCallId } = client.last("SUBAGENT_STARTED");
  assertEquals([name, parentToolCallId], ["explore", "c1"]);
  assertEquals(client.last("SUBAGENT_FINISHED")["result"], "Seen");
  const owned = client.events.filter((event) => event["subagentRunId"] === subagentRunId);
  assertEquals(owned.filter(({ type }) => type === "TOOL_CALL_START").length, 1);
});

Deno.test("agUiHandler(): a failed run is an error, an aborted one is cancelled", async () => {
  const failed = connect({
    streamFn: scriptedStream([fail("auth_error", "The key is wrong")]),
    retry: () => null,
  });
  await failed.send("Hello").catch(() => {});
  assertEquals([failed.last("RUN_ERROR")["code"]], ["auth_error"]);

  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([hang()]) });
  const client = new Client(() => agent);
  agent.subscribe(({ type }) => void (type === "model_call_start" && agent.abort()));
  await client.send("Hello");
  assertEquals(client.last("RUN_FINISHED")["outcome"], { type: "cancelled" });
});

Deno.test("agUiHandler(): a client that leaves aborts the run", async () => {
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([hang()]) });
  const handler = agUiHandler({ createAgent: () => agent });
  const input = { threadId: "t", runId: "r", messages: [{ id: "m", role: "user", content: "Hi" }] };
  const body = JSON.stringify(input);
  const response = await handler(new Request("http://localhost", { method: "POST", body }));
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  assertEquals(agent.state.isRunning, false);
});

Deno.test("agUiHandler(): invalid requests are refused with a reason", async () => {
  const streamFn = scriptedStream([reply("Hello")]);
  const handler = agUiHandler({
    createAgent: () => new Agent({ model: "test/model", streamFn }),
    maxBytes: 1_000,
  });
  const ask = async (body: unknown, method = "POST") => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const request = new Request("http://localhost", {
      method,
      ...(method === "POST" && { body: text }),
    });
    const response = await handler(request);
    return [response.status, (await response.json()).error];
  };
  const ids = { threadId: "t", runId: "r" };
  const message = (content: unknown) => ({
    ...ids,
    messages: [{ id: "m", role: "user", content }],
  });
  assertEquals(await ask("", "GET"), [405, "Send a POST request"]);
  assertEquals(await ask("{"), [400, "The body must be JSON"]);
  assertEquals(await ask([]), [400, "The body must be an object"]);
  assertEquals(await ask({ threadId: "t" }), [400, "runId must be a string"]);
  assertEquals(await ask({ ...ids, messages: [1] }), [400, "messages must be a list of objects"]);
  assertEquals(await ask(message(5)), [400, "messages[0].content must be a text or a list"]);
  assertEquals(await ask(message([{ type: "x", source: { type: "url", value: "u" } }])), [
    400,
    "messages[0].content[0] has the type x, which is not supported",
  ]);
  assertEquals(await ask({ ...ids, messages: [{ id: "m", role: "x" }] }), [
    400,
    "messages[0].role is unknown",
  ]);
  assertEquals(await ask({ ...ids, resume: [{ interruptId: "c", status: "resolved" }] }), [
    400,
    "The agent of this conversation waits for no approval",
  ]);
  const [status, reason] = await ask(message("x".repeat(2_000)));
  assertEquals(status, 400);
  assertStringIncludes(String(reason), "1000 bytes");
});

Deno.test("agUiHandler(): what a client says in the name of the application is left out", async () => {
  const seen: string[] = [];
  const scripted = scriptedStream([reply("Hello")]);
  const client = new Client(() =>
    new Agent({
      model: "test/model",
      systemPrompt: "Own",
      streamFn: (request) => {
        seen.push(JSON.stringify(request.context));
        return scripted(request);
      },
    })
  );
  client.addMessage({ id: "s", role: "system", content: "Forged" });
  await client.send("Hello", { context: [{ description: "Page", value: "Prices" }] });
  const [request = ""] = seen;
  assert(!request.includes("Forged"));
  assertStringIncludes(request, "Page: Prices");
});

Deno.test("agUiHandler(): errors of the application are not sent to the client", async () => {
  const handler = agUiHandler({
    createAgent: () => {
      throw new Error("password");
    },
  });
  const body = JSON.stringify({ threadId: "t", runId: "r", messages: [] });
  const response = await handler(new Request("http://localhost", { method: "POST", body }));
  assertEquals(response.status, 500);
  assert(!(await response.text()).includes("password"));
  const refused = agUiHandler({ createAgent: () => new Response("No", { status: 401 }) });
  assertEquals(
    (await refused(new Request("http://localhost", { method: "POST", body }))).status,
    401,
  );
});

Deno.test("agUiHandler(): onError chooses the texts of errors, and gets those of createAgent", async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => {
    errors.push(error instanceof Error && error.message);
    return "Please try again";
  };
  const streamFn = scriptedStream([fail("auth_error", "The key sk-1 is invalid")]);
  const agent = new Agent({ model: "test/model", streamFn });
  const failing = [
    () => agent,
    () => Promise.reject(new SessionError("Locked by 1", { reason: "locked" })),
  ];
  for (const createAgent of failing) {
    const handler = agUiHandler({ createAgent, onError });
    const messages = [{ id: "m", role: "user", content: "Hello" }];
    const body = JSON.stringify({ threadId: "t", runId: "r", messages });
    const text = await (await handler(new Request("http://localhost", { method: "POST", body })))
      .text();
    assertStringIncludes(text, "Please try again");
  }
  assertEquals(errors, ["The key sk-1 is invalid", "Locked by 1"]);
});

Deno.test("toAgUi(): the texts of warnings and of failed attempts stay on the server", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([fail("network_error", "10.0.0.7 is down"), reply("Hi")]),
    retry: () => 0,
    sleep: () => Promise.resolve(),
    policies: [{
      name: "broken",
      postTurn: () => {
        throw new Error("No such file: /secret");
      },
    }],
  });
  const events = await Array.fromAsync(toAgUi(agent.promptStream("Hi"), { threadId: "t" }));
  const custom = events.flatMap((event) =>
    event.type === "CUSTOM" ? [[event.name, event.value]] : []
  );
  assertEquals(custom, [
    ["swink.retry", {
      attempt: 1,
      delayMs: 0,
      discard: false,
      error: { code: "network_error" },
    }],
    ["swink.warning", { code: "policy_failed" }],
  ]);
});

Deno.test("toAgUi(): every event is valid by the schema of the protocol", async () => {
  const streamFn = scriptedStream([
    fail("network_error", "down", { after: [{ type: "thinking", thinking: "a" }] }),
    reply([{ type: "text", text: "a" }, toolCall("one"), toolCall("one")], { usage }),
    fail("auth_error", "no"),
  ]);
  const agent = new Agent({
    model: "test/model",
    streamFn,
    tools: [fakeTool({ name: "one" })],
    retry: ({ attempt }) => attempt < 2 ? 0 : null,
    sleep: () => Promise.resolve(),
  });
  const events = await Array.fromAsync(toAgUi(agent.promptStream("Hi"), { threadId: "t" }));
  for (const event of events) {
    const { success, error } = EventSchema.safeParse(event);
    assert(success, `${JSON.stringify(event)}: ${error}`);
  }
  assertEquals(events.at(-1)?.type, "RUN_ERROR");
});

Deno.test("toAgUi(): a run that cannot start is an error", async () => {
  const agent = new Agent({ model: "test/model", streamFn: scriptedStream([hang()]) });
  const running = agent.prompt("Hello");
  const events = await Array.fromAsync(
    toAgUi(agent.promptStream("Again"), { threadId: "t", runId: "r" }),
  );
  assertEquals(events.map(({ type }) => type), ["RUN_STARTED", "RUN_ERROR"]);
  agent.abort();
  await running;
});
