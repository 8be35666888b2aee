/**
 * The draft of version 2 of the Agent Client Protocol, with the client of its package.
 *
 * @module
 */

import * as sdk from "@agentclientprotocol/sdk/experimental/v2";
import schema from "@agentclientprotocol/sdk/schema/v2/schema.json" with { type: "json" };
import { assert, assertEquals, assertObjectMatch, assertRejects } from "@std/assert";
import { Agent, type AgentOptions, ajvValidator } from "../../mod.ts";
import type { AcpUpdate } from "../../src/protocols/acp/acp_update.ts";
import { EventMapper } from "../../src/protocols/acp/event_mapper.ts";
import {
  type AcpClient,
  type AcpHost,
  type AcpSession,
  serveAcp,
} from "../../src/protocols/acp/mod.ts";
import { toV2Update } from "../../src/protocols/acp/to_v2.ts";
import { fail, fakeTool, hang, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { recordRun, RUNS } from "../protocols/recorded_runs.ts";
import { waitUntil } from "../wait_until.ts";

function createHost(
  options: (client: AcpClient) => Omit<AgentOptions, "model">,
  session: Partial<AcpSession> = {},
): AcpHost {
  let count = 0;
  const create = ({ client }: { readonly client: AcpClient }): Promise<AcpSession> => {
    const agent = new Agent({ model: "test/model", ...options(client) });
    return Promise.resolve({ id: `s${++count}`, agent, ...session });
  };
  return { name: "test", version: "1", createSession: create };
}

/** Connects a client of version 2. */
async function connect(host: AcpHost, { experimentalV2 = true } = {}) {
  const toAgent = new TransformStream<Uint8Array, Uint8Array>();
  const toClient = new TransformStream<Uint8Array, Uint8Array>();
  const abort = new AbortController();
  const served = serveAcp(host, {
    input: toAgent.readable,
    output: toClient.writable,
    experimentalV2,
    signal: abort.signal,
  });
  // deno-lint-ignore no-explicit-any -- a test knows the members that it reads
  const updates: any[] = [];
  const permissions: sdk.RequestPermissionRequest[] = [];
  const app = sdk.client({ name: "test" })
    .onNotification("session/update", ({ params }) => void updates.push(params.update))
    .onRequest("session/request_permission", ({ params }) => {
      permissions.push(params);
      return { outcome: { outcome: "selected", optionId: "once" } };
    });
  const connection = app.connect(sdk.ndJsonStream(toAgent.writable, toClient.readable));
  const initialized = await connection.agent.request("initialize", {
    protocolVersion: 2,
    info: { name: "test", version: "1" },
  });
  return {
    agent: connection.agent,
    initialized,
    updates,
    permissions,
    /** Waits for the end of a prompt. */
    async untilIdle(count = 1) {
      const find = () => updates.filter(({ state }) => state === "idle");
      await waitUntil(() => find().length >= count);
      return find()[count - 1];
    },
    async [Symbol.asyncDispose]() {
      connection.close();
      abort.abort();
      await served;
    },
  };
}

const session = { cwd: "/work", mcpServers: [] };
const prompt = (sessionId: string) => ({
  sessionId,
  prompt: [{ type: "text" as const, text: "Go" }],
});

Deno.test("serveAcp(): version 2 acknowledges a prompt, and sends states, calls and permissions", async () => {
  const change = { path: "a.ts", before: "1\n", after: "2\n" };
  const host = createHost(({ ask }) => ({
    streamFn: scriptedStream([
      reply([
        { type: "text", text: "I edit" },
        toolCall("edit_file", { path: "a.ts" }, { id: "c1" }),
      ]),
      reply("Done"),
    ]),
    approve: ask,
    tools: [{
      ...fakeTool({ name: "edit_file" }),
      preview: () => Promise.resolve([change]),
    }],
  }));
  await using client = await connect(host);
  assertEquals(client.initialized.protocolVersion, 2);
  const { sessionId } = await client.agent.request("session/new", session);
  const { messageId } = await client.agent.request("session/prompt", prompt(sessionId));
  assert(messageId !== "");
  assertEquals((await client.untilIdle()).stopReason, "end_turn");
  const [first, second] = client.updates;
  assertEquals(first, {
    sessionUpdate: "user_message",
    messageId,
    content: [{ type: "text", text: "Go" }],
  });
  assertEquals([second.sessionUpdate, second.state], ["state_update", "running"]);
  const [permission] = client.permissions;
  assertEquals(permission?.title, "edit_file a.ts");
  const call = client.updates.findLast(({ status }) => status === "completed");
  const patch = "--- a/work/a.ts\n+++ b/work/a.ts\n@@ -1 +1 @@\n-1\n+2\n";
  assertEquals(call.content, [{
    type: "diff",
    changes: [{ operation: "modify", path: "/work/a.ts" }],
    patch: { format: "git_patch", text: patch },
  }]);
  const texts = client.updates.filter(({ sessionUpdate }) =>
    sessionUpdate === "agent_message_chunk"
  );
  assertEquals(texts.map(({ content }) => content.text).join(""), "I editDone");
});

Deno.test("serveAcp(): version 2 cancels a prompt, refuses a second one, and reports an error as a state", async () => {
  const host = createHost(() => ({
    streamFn: scriptedStream([hang({ after: "I begin" }), fail("auth_error", "no key")]),
    retry: () => null,
  }));
  await using client = await connect(host);
  const { sessionId } = await client.agent.request("session/new", session);
  await client.agent.request("session/prompt", prompt(sessionId));
  await assertRejects(
    () => client.agent.request("session/prompt", prompt(sessionId)),
    Error,
    "already running",
  );
  await waitUntil(() => client.updates.some(({ content }) => content?.text));
  await client.agent.notify("session/cancel", { sessionId });
  assertEquals((await client.untilIdle()).stopReason, "cancelled");
  await client.agent.request("session/prompt", prompt(sessionId));
  const { stopReason, error } = await client.untilIdle(2);
  assertEquals([stopReason, error.code, error.message], ["error", -32000, "no key"]);
});

Deno.test("serveAcp(): version 2 runs a prompt that follows a cancellation when the cancelled one has ended", async () => {
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([hang({ after: "First" }), reply("Second")]),
  });
  const isSent = Promise.withResolvers<void>();
  agent.subscribe(({ type }) => type === "agent_end" ? isSent.promise : undefined);
  const host: AcpHost = {
    name: "test",
    version: "1",
    createSession: () => Promise.resolve({ id: "s1", agent }),
  };
  await using client = await connect(host);
  const { sessionId } = await client.agent.request("session/new", session);
  const first = await client.agent.request("session/prompt", prompt(sessionId));
  await waitUntil(() => client.updates.some(({ content }) => content?.text === "First"));
  await client.agent.notify("session/cancel", { sessionId });
  const second = await client.agent.request("session/prompt", prompt(sessionId));
  isSent.resolve();
  await client.untilIdle(2);
  const shown = client.updates.map(({ state, stopReason, messageId, content, sessionUpdate }) =>
    sessionUpdate === "user_message" ? messageId : stopReason ?? state ?? content.text
  );
  assertEquals(shown, [
    first.messageId,
    "running",
    "First",
    "cancelled",
    second.messageId,
    "running",
    "Second",
    "end_turn",
  ]);
  const prompts = agent.state.messages.filter(({ role }) => role === "user");
  assertEquals(prompts.map(({ id }) => id), [first.messageId, second.messageId]);
});

Deno.test("serveAcp(): version 2 has settings, commands and sessions with their history", async () => {
  let model = "small";
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([reply("Hello")]),
  });
  await agent.prompt("Hi");
  const opened: AcpSession = {
    id: "s1",
    agent,
    commands: [{ name: "cost", description: "Shows the cost", input: { hint: "[DAY]" } }],
    config: {
      options: () => [{
        type: "select",
        id: "model",
        name: "Model",
        currentValue: model,
        options: [{ value: "small", name: "Small" }, { value: "large", name: "Large" }],
      }],
      select: (_id, value) => void (model = value),
    },
  };
  const host: AcpHost = {
    ...createHost(() => ({ streamFn: scriptedStream([]) })),
    openSession: () => Promise.resolve(opened),
    listSessions: () => Promise.resolve({ sessions: [{ sessionId: "s1", cwd: "/work" }] }),
    deleteSession: () => Promise.resolve(),
  };
  await using client = await connect(host);
  const { sessions } = await client.agent.request("session/list", {});
  assertEquals(sessions.map(({ sessionId }) => sessionId), ["s1"]);
  const { availableCommands, configOptions } = await client.agent.request("session/resume", {
    ...session,
    sessionId: "s1",
    replayFrom: { type: "start" },
  });
  const [command] = availableCommands ?? [];
  assertEquals(command?.type === "command" && command.input, { type: "text", hint: "[DAY]" });
  assertEquals(configOptions?.[0]?.configId, "model");
  const replayed = client.updates.map(({ sessionUpdate }) => sessionUpdate);
  assertEquals(replayed.slice(0, 3), [
    "user_message_chunk",
    "agent_message_chunk",
    "state_update",
  ]);
  client.updates.length = 0;
  await client.agent.request("session/resume", { ...session, sessionId: "s1" });
  assert(!client.updates.some(({ content }) => content), "without the history");
  await client.agent.request("session/set_config_option", {
    sessionId: "s1",
    configId: "model",
    type: "id",
    value: "large",
  });
  assertEquals(model, "large");
  await client.agent.request("session/close", { sessionId: "s1" });
  await client.agent.request("session/delete", { sessionId: "s1" });
});

Deno.test("serveAcp(): a client of version 2 gets version 1 unless the draft is allowed", async () => {
  const host = createHost(() => ({ streamFn: scriptedStream([]) }));
  await assertRejects(() => connect(host, { experimentalV2: false }));
});

Deno.test("toV2Update(): keeps the ids of messages, and separates new files from changed ones", () => {
  const text: AcpUpdate = {
    sessionUpdate: "agent_message_chunk",
    messageId: "m1",
    content: { type: "text", text: "Hi" },
  };
  assertEquals(toV2Update(text, () => "other"), [text]);
  assertObjectMatch(toV2Update({ ...text, messageId: "" }, () => "other")[0] ?? {}, {
    messageId: "other",
  });
  const [call] = toV2Update({
    sessionUpdate: "tool_call_update",
    toolCallId: "c1",
    content: [{ type: "diff", path: "/work/a.ts", oldText: null, newText: "1\n" }],
  }, () => "m");
  assertObjectMatch(call ?? {}, {
    content: [{ changes: [{ operation: "add", path: "/work/a.ts" }] }],
  });
});

Deno.test("toV2Update(): the updates of recorded runs are valid in the schema of version 2", async () => {
  const validate = await ajvValidator({
    $ref: "#/$defs/SessionNotification",
    $defs: schema.$defs,
  });
  for (const [name, script] of Object.entries(RUNS)) {
    const { events } = await recordRun(script);
    const mapper = new EventMapper({
      toPath: (path) => `/work/${path}`,
      getContextWindow: () => 1_000,
    });
    const updates: AcpUpdate[] = events.flatMap((event) => mapper.map(event));
    const commands: AcpUpdate = {
      sessionUpdate: "available_commands_update",
      availableCommands: [{ name: "a", description: "A", input: { hint: "x" } }],
    };
    for (
      const update of [...updates, commands].flatMap((update) => toV2Update(update, () => "m"))
    ) {
      assertEquals(
        [name, validate({ sessionId: "s", update })],
        [name, []],
        JSON.stringify(update),
      );
    }
  }
});
