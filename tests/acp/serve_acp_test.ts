import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  Agent,
  type AgentOptions,
  type AgentTool,
  type Approve,
  AuthError,
  extractText,
} from "../../mod.ts";
import type { AcpClient, AcpHost } from "../../src/protocols/acp/mod.ts";
import { fail, fakeTool, hang, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { approvalGate } from "../../src/tools/mod.ts";
import { connectClient } from "./acp_client.ts";
import { RawClient } from "./raw_client.ts";
import { createHost } from "./test_host.ts";

function edit(): AgentTool {
  return {
    ...fakeTool({ name: "edit_file", result: "Edited" }),
    preview: () => Promise.resolve([{ path: "a.ts", before: "1", after: "2" }]),
  };
}

/** Returns updates without the ids of messages. */
function simplify(updates: readonly SessionUpdate[]): unknown[] {
  return updates.map((update) => {
    const { messageId: _id, ...rest } = update as SessionUpdate & { messageId?: string };
    return rest;
  });
}

Deno.test("serveAcp(): streams thoughts, text and tool calls with their changes", async () => {
  const streamFn = scriptedStream([
    reply([
      { type: "thinking", thinking: "Hm" },
      { type: "text", text: "Ok" },
      toolCall("edit_file", { path: "a.ts" }, { id: "c1" }),
    ]),
    reply("Done"),
  ]);
  const host = createHost(() => ({ streamFn, tools: [edit()] }));
  await using client = await connectClient(host);
  const { stopReason } = await client.prompt(await client.createSession(), "Change it");
  assertEquals(stopReason, "end_turn");
  const call = { toolCallId: "c1", title: "edit_file a.ts", kind: "edit" };
  assertEquals(simplify(client.updates), [
    { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Hm" } },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Ok" } },
    { sessionUpdate: "tool_call", ...call, title: "edit_file", status: "pending" },
    {
      sessionUpdate: "tool_call_update",
      ...call,
      status: "in_progress",
      rawInput: { path: "a.ts" },
      locations: [{ path: "/work/a.ts" }],
    },
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "c1",
      status: "completed",
      content: [{ type: "diff", path: "/work/a.ts", oldText: "1", newText: "2" }],
    },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Done" } },
  ]);
});

Deno.test("serveAcp(): the user is asked for approvals with the changes, and the answers are obeyed", async () => {
  for (const [optionId, runs] of [["once", 1], ["tool", 1], ["deny", 0], ["other", 0]] as const) {
    const tool = fakeTool({ name: "edit_file" });
    const streamFn = scriptedStream([
      reply([toolCall("edit_file", {}, { id: "c1" })]),
      reply("Done"),
    ]);
    const tools = [{ ...edit(), execute: tool.execute }];
    const host = createHost(({ ask }) => ({ streamFn, tools, approve: ask }));
    await using client = await connectClient(host, {
      onPermission: () => ({ outcome: { outcome: "selected", optionId } }),
    });
    await client.prompt(await client.createSession(), "Change it");
    assertEquals(tool.calls.length, runs);
    const [request] = client.permissions;
    assertEquals(request?.toolCall.content, [
      { type: "diff", path: "/work/a.ts", oldText: "1", newText: "2" },
    ]);
    assertEquals(request?.options.map(({ kind }) => kind), [
      "allow_once",
      "allow_always",
      "reject_once",
    ]);
  }
});

Deno.test("serveAcp(): a tool that the user allows for the session is not asked about again, other than by a gate", async () => {
  const commands = ["ls", "rm -rf /", "ls"];
  const listQuestions = async (approve: (client: AcpClient) => Approve) => {
    const host = createHost((client) => ({
      streamFn: scriptedStream([
        ...commands.map((command) => reply([toolCall("bash", { command })])),
        reply([toolCall("look")]),
        reply("Done"),
      ]),
      tools: ["bash", "look"].map((name) => ({ ...fakeTool({ name }), requiresApproval: true })),
      approve: approve(client),
    }));
    await using client = await connectClient(host);
    const questions = async () => {
      await client.prompt(await client.createSession(), "Go");
      return client.permissions.splice(0).map(({ toolCall: { title } }) => title);
    };
    client.answers.push("tool");
    return [await questions(), await questions()];
  };
  const all = ["bash ls", "bash rm -rf /", "bash ls", "look"];
  assertEquals(await listQuestions(({ ask }) => ask), [["bash ls", "look"], all]);
  const gates = [
    ({ ask }: AcpClient) => approvalGate({ ask }),
    ({ ask }: AcpClient) =>
      approvalGate({
        ask: ({ toolCallId, name, arguments: args, signal }) =>
          ask({ toolCallId, name, arguments: args, signal }),
      }),
  ];
  for (const gate of gates) {
    assertEquals(await listQuestions(gate), [["bash ls", "bash rm -rf /", "look"], all]);
  }
});

Deno.test("serveAcp(): cancelling a prompt aborts the run, also while a permission is asked for", async () => {
  for (const asks of [false, true]) {
    const steps = asks ? [reply([toolCall("edit_file")])] : [hang()];
    const host = createHost(({ ask }) => ({
      streamFn: scriptedStream(steps),
      tools: [edit()],
      approve: ask,
    }));
    const waiting = Promise.withResolvers<void>();
    await using client = await connectClient(host, {
      onPermission: () => {
        waiting.resolve();
        return new Promise(() => {});
      },
    });
    const sessionId = await client.createSession();
    host.sessions[0]?.agent.subscribe(({ type }) => {
      if (!asks && type === "model_call_start") waiting.resolve();
    });
    const prompted = client.prompt(sessionId, "Change it");
    await waiting.promise;
    await client.agent.notify("session/cancel", { sessionId });
    await client.agent.notify("session/cancel", { sessionId });
    assertEquals((await prompted).stopReason, "cancelled");
  }
});

Deno.test("serveAcp(): a client that disappears ends its runs and closes its sessions", async () => {
  let closed = 0;
  const host = createHost(() => ({ streamFn: scriptedStream([hang()]) }), {
    close: () => void closed++,
  });
  await using client = await connectClient(host);
  const sessionId = await client.createSession();
  const started = Promise.withResolvers<void>();
  host.sessions[0]?.agent.subscribe(({ type }) =>
    void (type === "model_call_start" && started.resolve())
  );
  const prompted = client.prompt(sessionId, "Hello").catch(() => {});
  await started.promise;
  client.close();
  await Promise.all([client.served, prompted]);
  assertEquals(closed, 1);
  assertEquals(host.sessions[0]?.agent.state.isRunning, false);
});

Deno.test("serveAcp(): returns five seconds after the end although a session does not close, or fails to", async () => {
  const createAgent = () => new Agent({ model: "test/model", streamFn: scriptedStream([]) });
  const ends = [
    [() => new Promise<void>(() => {}), 5_000],
    [() => Promise.reject(new Error("no")), 0],
  ] as const;
  for (const [close, milliseconds] of ends) {
    const client = new RawClient({
      name: "test",
      version: "1",
      createSession: () => Promise.resolve({ id: "s1", agent: createAgent(), close }),
    });
    await client.createSession();
    using time = new FakeTime();
    let isServed = false;
    void client.served.then(() => isServed = true);
    client.end();
    for (let turn = 0; turn < 50; turn++) await time.tickAsync(0);
    assertEquals(isServed, milliseconds === 0);
    await time.tickAsync(Math.max(0, milliseconds - 1));
    assertEquals(isServed, milliseconds === 0);
    await time.tickAsync(1);
    await client.served;
  }
});

Deno.test("serveAcp(): a second prompt during a run, and one of an unknown session, are errors", async () => {
  const host = createHost(() => ({ streamFn: scriptedStream([hang()]) }));
  await using client = await connectClient(host);
  const sessionId = await client.createSession();
  const started = Promise.withResolvers<void>();
  host.sessions[0]?.agent.subscribe(({ type }) =>
    void (type === "model_call_start" && started.resolve())
  );
  const prompted = client.prompt(sessionId, "Hello");
  await started.promise;
  await assertRejects(() => client.prompt(sessionId, "Again"), Error, "already running");
  await assertRejects(() => client.prompt("x", "Hello"), Error, "The session x is not open");
  await client.agent.notify("session/cancel", { sessionId });
  await prompted;
});

Deno.test("serveAcp(): a prompt that follows a cancellation runs when the cancelled one has ended, and a third is an error", async () => {
  const texts: string[] = [];
  const script = scriptedStream([hang({ ignoresSignal: true }), reply("Two")]);
  const host = createHost(() => ({
    streamFn: (request) => {
      texts.push(
        extractText(
          request.context.messages.findLast(({ role }) => role === "user")?.content ?? [],
        ),
      );
      return script(request);
    },
  }));
  await using client = await connectClient(host);
  const sessionId = await client.createSession();
  const started = Promise.withResolvers<void>();
  host.sessions[0]?.agent.subscribe(({ type }) =>
    void (type === "model_call_start" && started.resolve())
  );
  const first = client.prompt(sessionId, "One");
  await started.promise;
  await client.agent.notify("session/cancel", { sessionId });
  const second = client.prompt(sessionId, "Two");
  await assertRejects(() => client.prompt(sessionId, "Three"), Error, "already running");
  assertEquals(await Promise.all([first, second]), [
    { stopReason: "cancelled" },
    { stopReason: "end_turn" },
  ]);
  assertEquals(texts, ["One", "Two"]);
});

Deno.test("serveAcp(): a cancellation is handled before the prompt that is read with it", async () => {
  const host = createHost(() => ({ streamFn: scriptedStream([hang(), reply("Two")]) }));
  const client = new RawClient(host);
  const sessionId = await client.createSession();
  const started = Promise.withResolvers<void>();
  host.sessions[0]?.agent.subscribe(({ type }) =>
    void (type === "model_call_start" && started.resolve())
  );
  const createPrompt = (id: string) => ({
    jsonrpc: "2.0",
    id,
    method: "session/prompt",
    params: { sessionId, prompt: [{ type: "text", text: id }] },
  });
  client.write(createPrompt("one"));
  await started.promise;
  const cancel = { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } };
  const messages = [cancel, createPrompt("two"), cancel, createPrompt("three")];
  client.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
  const reasons = await Promise.all(
    ["one", "two", "three"].map(async (id) => (await client.answer(id)).result?.stopReason),
  );
  assertEquals(reasons, ["cancelled", "cancelled", "end_turn"]);
  client.end();
  await client.served;
});

Deno.test("serveAcp(): a prompt that waits for a cancelled one is cancelled too, and closing the session ends both", async () => {
  const host = createHost(() => ({ streamFn: scriptedStream([hang({ ignoresSignal: true })]) }));
  await using client = await connectClient(host);
  const sessionId = await client.createSession();
  const started = Promise.withResolvers<void>();
  host.sessions[0]?.agent.subscribe(({ type }) =>
    void (type === "model_call_start" && started.resolve())
  );
  const prompts = [client.prompt(sessionId, "One")];
  await started.promise;
  await client.agent.notify("session/cancel", { sessionId });
  prompts.push(client.prompt(sessionId, "Two"));
  await client.agent.request("session/close", { sessionId });
  const cancelled = { stopReason: "cancelled" } as const;
  assertEquals(await Promise.all(prompts), [cancelled, cancelled]);
});

Deno.test("serveAcp(): a failed run is an error with its reason and code", async () => {
  const host = createHost(() => ({
    streamFn: scriptedStream([fail("auth_error", "The key is wrong")]),
    retry: () => null,
  }));
  await using client = await connectClient(host);
  const sessionId = await client.createSession();
  const error = await assertRejects(
    () => client.prompt(sessionId, "Hi"),
    Error,
    "The key is wrong",
  );
  const { code, data } = error as Error & { code?: number; data?: unknown };
  assertEquals([code, data], [-32000, { code: "auth_error" }]);
});

Deno.test("serveAcp(): stop reasons tell limits of tokens and turns, and refusals", async () => {
  const run = async (options: Omit<AgentOptions, "model">) => {
    await using client = await connectClient(createHost(() => ({ retry: () => null, ...options })));
    return (await client.prompt(await client.createSession(), "Hi")).stopReason;
  };
  const long = scriptedStream([reply("Hello", { stopReason: "length" })]);
  assertEquals(await run({ streamFn: long }), "max_tokens");
  const calls = scriptedStream([reply([toolCall("edit_file")])]);
  assertEquals(await run({ streamFn: calls, tools: [edit()], maxTurns: 1 }), "max_turn_requests");
  const refused = scriptedStream([fail("content_filtered", "no")]);
  assertEquals(await run({ streamFn: refused }), "refusal");
});

Deno.test("serveAcp(): prompts have images, embedded text and links", async () => {
  const seen: unknown[] = [];
  const scripted = scriptedStream([reply("Ok")]);
  const host = createHost(() => ({
    streamFn: (request) => {
      const last = request.context.messages.at(-1);
      seen.push(...last?.role === "user" ? last.content : []);
      return scripted(request);
    },
  }));
  await using client = await connectClient(host);
  await client.agent.request("session/prompt", {
    sessionId: await client.createSession(),
    prompt: [
      { type: "text", text: "Look" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
      { type: "resource", resource: { uri: "file:///a.ts", text: "const a = 1;" } },
      { type: "resource_link", uri: "file:///b.ts", name: "b.ts" },
    ],
  });
  assertEquals(seen, [
    { type: "text", text: "Look" },
    { type: "image", source: { type: "base64", mediaType: "image/png", data: "aGk=" } },
    { type: "text", text: '<resource uri="file:///a.ts">\nconst a = 1;\n</resource>' },
    { type: "text", text: "file:///b.ts" },
  ]);
});

Deno.test("serveAcp(): modes, settings and commands are shown and selected", async () => {
  let mode = "ask";
  let model = "small";
  const prompts: string[] = [];
  const host = createHost(() => ({ streamFn: scriptedStream([reply("From the model")]) }), {
    modes: {
      available: [{ id: "ask", name: "Ask" }, { id: "plan", name: "Plan" }],
      current: () => mode,
      select: (id) => void (mode = id),
    },
    config: {
      options: () => [{
        type: "select",
        id: "model",
        name: "Model",
        category: "model",
        currentValue: model,
        options: [{ value: "small", name: "Small" }, { value: "large", name: "Large" }],
      }],
      select: (_id, value) => void (model = value),
    },
    commands: [{ name: "cost", description: "Shows the cost" }],
    runCommand: (prompt) => {
      prompts.push(prompt);
      return prompt === "/cost" ? { type: "answer", text: "Nothing" } : undefined;
    },
  });
  await using client = await connectClient(host);
  const session = await client.agent.request("session/new", { cwd: "/work", mcpServers: [] });
  const { sessionId, modes, configOptions } = session;
  assertEquals(modes?.currentModeId, "ask");
  assertEquals(configOptions?.map(({ id }) => id), ["model"]);
  await client.agent.request("session/set_mode", { sessionId, modeId: "plan" });
  const unknown = { sessionId, modeId: "x" };
  await assertRejects(() => client.agent.request("session/set_mode", unknown), Error, "no mode x");
  const config = { sessionId, configId: "model", value: "large" };
  await client.agent.request("session/set_config_option", config);
  const wrong = { ...config, value: "huge" };
  await assertRejects(
    () => client.agent.request("session/set_config_option", wrong),
    Error,
    "huge",
  );
  assertEquals([mode, model], ["plan", "large"]);
  assertEquals(await client.prompt(sessionId, "/cost"), { stopReason: "end_turn" });
  await client.prompt(sessionId, "/etc/hosts is wrong");
  assertEquals(prompts, ["/cost", "/etc/hosts is wrong"]);
  const texts = client.updates.flatMap((update) =>
    update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
      ? update.content.text
      : []
  );
  assertEquals(texts.join(""), "NothingFrom the model");
  const { availableCommands } = await client.untilUpdate("available_commands_update");
  assertEquals(availableCommands.map(({ name }) => name), ["cost"]);
});

Deno.test("serveAcp(): sessions are listed, opened with their history, resumed without it, and deleted", async () => {
  const deleted: string[] = [];
  const createAgent = () =>
    new Agent({ model: "test/model", streamFn: scriptedStream([reply("Hello"), reply("Again")]) });
  const kept = createAgent();
  await kept.prompt("Hi");
  const host: AcpHost = {
    ...createHost(() => ({ streamFn: scriptedStream([]) })),
    openSession: ({ sessionId }) =>
      Promise.resolve(sessionId === "kept" ? { id: "kept", agent: kept } : undefined),
    listSessions: ({ cwd }) =>
      Promise.resolve({ sessions: [{ sessionId: "kept", cwd: cwd ?? "/work", title: "Hi" }] }),
    deleteSession: (id) => Promise.resolve(void deleted.push(id)),
  };
  await using client = await connectClient(host);
  const { sessions } = await client.agent.request("session/list", { cwd: "/other" });
  assertEquals(sessions, [{ sessionId: "kept", cwd: "/other", title: "Hi" }]);
  const open = { sessionId: "kept", cwd: "/work", mcpServers: [] };
  await client.agent.request("session/load", open);
  assertEquals(simplify(client.updates), [
    { sessionUpdate: "user_message_chunk", content: { type: "text", text: "Hi" } },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Hello" } },
  ]);
  await client.agent.request("session/resume", open);
  assertEquals(client.updates.length, 2);
  assertEquals((await client.prompt("kept", "More")).stopReason, "end_turn");
  const missing = { ...open, sessionId: "x" };
  await assertRejects(() => client.agent.request("session/load", missing), Error, "no session x");
  await client.agent.request("session/delete", { sessionId: "kept" });
  assertEquals(deleted, ["kept"]);
  await assertRejects(() => client.prompt("kept", "More"), Error, "is not open");
});

Deno.test("serveAcp(): the host reads and writes files of the editor, if it offers them", async () => {
  const clients: AcpClient[] = [];
  const createSession: AcpHost["createSession"] = ({ client }) => {
    clients.push(client);
    const agent = new Agent({ model: "test/model", streamFn: scriptedStream([]) });
    return Promise.resolve({ id: "s", agent });
  };
  const host = { name: "test", version: "1", createSession };
  const files = new Map([["/work/a.ts", "unsaved"]]);
  await using client = await connectClient(host, { files });
  await client.createSession();
  assertEquals(await clients[0]?.readTextFile?.("a.ts"), "unsaved");
  await clients[0]?.writeTextFile?.("/work/b.ts", "new");
  assertEquals(files.get("/work/b.ts"), "new");
  await using other = await connectClient(host);
  await other.createSession();
  assertEquals(clients[1]?.readTextFile, undefined);
});

Deno.test("serveAcp(): a setting that changes the mode is followed by an update of the mode", async () => {
  let mode = "ask";
  const choices = [{ id: "ask", name: "Ask" }, { id: "plan", name: "Plan" }];
  const host = createHost(() => ({ streamFn: scriptedStream([]) }), {
    modes: { available: choices, current: () => mode, select: () => {} },
    config: {
      options: () => [{
        type: "select",
        id: "mode",
        name: "Mode",
        currentValue: mode,
        options: choices.map(({ id, name }) => ({ value: id, name })),
      }],
      select: (_id, value) => void (mode = value),
    },
  });
  await using client = await connectClient(host);
  const sessionId = await client.createSession();
  const setting = { sessionId, configId: "mode", value: "plan" };
  await client.agent.request("session/set_config_option", setting);
  assertEquals((await client.untilUpdate("current_mode_update")).currentModeId, "plan");
});

Deno.test("serveAcp(): a session without a key asks for a login, in a terminal only if the client has one", async () => {
  const host: AcpHost = {
    name: "test",
    version: "1",
    authMethods: [{ id: "login", name: "Log in", terminalArguments: ["login"] }],
    createSession: () => Promise.reject(new AuthError("There is no key")),
  };
  for (const canLogIn of [false, true]) {
    await using client = await connectClient(host, { canLogIn });
    const terminal = canLogIn && { type: "terminal", args: ["login"] };
    assertEquals(client.initialized.authMethods, [
      { id: "login", name: "Log in", ...terminal } as never,
    ]);
    const { code } = await assertRejects(() => client.createSession()) as { code?: number };
    assertEquals(code, -32000);
  }
});
