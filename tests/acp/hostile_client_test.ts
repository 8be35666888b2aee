/**
 * Clients of the Agent Client Protocol that break its rules, disappear or flood.
 *
 * @module
 */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent, BadRequestError } from "../../mod.ts";
import type { AcpHost } from "../../src/protocols/acp/mod.ts";
import { serveAcp } from "../../src/protocols/acp/mod.ts";
import { fakeTool, hang, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { seededRandom } from "../../src/testing/mod.ts";
import { RawClient, type RawMessage } from "./raw_client.ts";

interface TestHost extends AcpHost {
  readonly agents: Agent[];
  /** Number of open sessions. */
  open: number;
}

/** A host whose agent asks about a tool and then ends, or hangs. */
function createHost({ hangs = false }: { readonly hangs?: boolean } = {}): TestHost {
  const host: TestHost = {
    name: "test",
    version: "1",
    agents: [],
    open: 0,
    createSession({ client }) {
      const steps = hangs
        ? [hang({ after: "One moment" })]
        : [reply([{ type: "text", text: "I write" }, toolCall("write")]), reply("Done it")];
      const agent = new Agent({
        model: "test/model",
        streamFn: scriptedStream(steps),
        tools: [fakeTool({ name: "write" })],
        approve: client.ask,
      });
      host.agents.push(agent);
      host.open++;
      const close = () => void host.open--;
      return Promise.resolve({ id: `s${host.agents.length}`, agent, close });
    },
  };
  return host;
}

const prompt = (sessionId: string) => ({ sessionId, prompt: [{ type: "text", text: "Go" }] });

function allow({ id }: RawMessage): object {
  return { jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId: "once" } } };
}

/** Checks that nothing of a connection is left. */
async function checkEnd(client: RawClient, host: TestHost): Promise<void> {
  client.end();
  await client.served;
  assertEquals(host.open, 0);
  for (const { state } of host.agents) assert(!state.isRunning);
}

Deno.test("hostile ACP client: disappears after any message", async () => {
  let total = Infinity;
  for (let count = 0; count < total; count++) {
    const host = createHost();
    let seen = 0;
    let isComplete = false;
    const client: RawClient = new RawClient(host, {
      onMessage(message) {
        if (seen++ === count) return client.end();
        if (message.method === "session/request_permission") client.write(allow(message));
        if (message.id === "i") client.send("n", "session/new", { cwd: "/w", mcpServers: [] });
        if (message.id === "n") client.send("p", "session/prompt", prompt("s1"));
        if (message.id === "p") {
          isComplete = true;
          client.end();
        }
      },
    });
    client.send("i", "initialize", { protocolVersion: 1 });
    await client.served;
    await checkEnd(client, host);
    if (isComplete) total = count;
  }
  assert(total > 8, `${total}`);
});

Deno.test("hostile ACP client: disappears while a session is opened, which is then closed", async () => {
  const host = createHost();
  const opening = Promise.withResolvers<void>();
  const { createSession } = host;
  const started = Promise.withResolvers<void>();
  const slow: AcpHost = {
    ...host,
    async createSession(request) {
      started.resolve();
      await opening.promise;
      return await createSession(request);
    },
  };
  const client = new RawClient(slow);
  client.send("i", "initialize", { protocolVersion: 1 });
  await client.answer("i");
  client.send("n", "session/new", { cwd: "/w", mcpServers: [] });
  await started.promise;
  client.end();
  // The server has noticed the end.
  await new Promise((resolve) => setTimeout(resolve, 20));
  opening.resolve();
  await client.served;
  assertEquals([host.agents.length, host.open], [1, 0]);
});

Deno.test("hostile ACP client: cancels twice, before a prompt, after it, and unknown sessions", async () => {
  const host = createHost({ hangs: true });
  const client = new RawClient(host);
  const sessionId = await client.createSession();
  const cancel = (sessionId: unknown) =>
    client.write({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
  cancel(sessionId);
  cancel("unknown");
  cancel(7);
  client.send("p", "session/prompt", prompt(sessionId));
  await client.until("session/update");
  cancel(sessionId);
  cancel(sessionId);
  assertEquals((await client.answer("p")).result, { stopReason: "cancelled" });
  cancel(sessionId);
  await checkEnd(client, host);
});

Deno.test("hostile ACP client: cancels the request of the prompt itself, and a request that does not exist", async () => {
  const host = createHost({ hangs: true });
  const client = new RawClient(host);
  client.send("p", "session/prompt", prompt(await client.createSession()));
  await client.until("session/update");
  for (const requestId of ["none", "p", "p"]) {
    client.write({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId } });
  }
  assertEquals((await client.answer("p")).result, { stopReason: "cancelled" });
  await checkEnd(client, host);
});

Deno.test("hostile ACP client: answers a permission twice, late, with nonsense, and with a wrong id", async () => {
  const nonsense = [
    { outcome: { outcome: "selected" } },
    { outcome: { outcome: "selected", optionId: "constructor" } },
    { outcome: { outcome: "approved" } },
    { outcome: null },
    {},
  ];
  for (const result of nonsense) {
    const host = createHost();
    const client = new RawClient(host);
    client.send("p", "session/prompt", prompt(await client.createSession()));
    const { id } = await client.until("session/request_permission");
    client.write({ jsonrpc: "2.0", id: 99, result: { outcome: { outcome: "cancelled" } } });
    client.write({ jsonrpc: "2.0", id, result });
    client.write(allow({ id: id ?? null }));
    assertEquals((await client.answer("p")).result, { stopReason: "end_turn" });
    const failed = client.messages.filter(({ params }) => params?.update?.status === "failed");
    assertEquals(failed.length, 1, JSON.stringify(result));
    assertStringIncludes(JSON.stringify(failed), "the client gave no valid answer");
    client.write(allow({ id: id ?? null }));
    await checkEnd(client, host);
  }
});

Deno.test("hostile ACP client: answers a permission after it has cancelled the prompt", async () => {
  const host = createHost();
  const client = new RawClient(host);
  const sessionId = await client.createSession();
  client.send("p", "session/prompt", prompt(sessionId));
  const request = await client.until("session/request_permission");
  client.write({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
  assertEquals((await client.answer("p")).result, { stopReason: "cancelled" });
  // The server has cancelled its request.
  const { params } = await client.until("$/cancel_request");
  assertEquals(params.requestId, request.id);
  client.write(allow(request));
  client.send("q", "session/prompt", prompt(sessionId));
  assertEquals((await client.answer("q")).result, { stopReason: "end_turn" });
  await checkEnd(client, host);
});

const DEEP = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;

/** Lines that are no valid messages, or messages with invalid parameters. */
const NONSENSE = [
  "no JSON\n",
  "{\n",
  "null\n",
  "[]\n",
  "17\n",
  `"text"\n`,
  `[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}]\n`,
  `{"jsonrpc":"2.0"}\n`,
  `{"jsonrpc":"2.0","id":{},"method":"session/new"}\n`,
  `{"jsonrpc":"2.0","id":"x1","method":"session/new"}\n`,
  `{"jsonrpc":"2.0","id":"x2","method":"session/new","params":{"cwd":7,"mcpServers":"none"}}\n`,
  `{"jsonrpc":"2.0","id":"x3","method":"session/prompt","params":{"sessionId":"s1","prompt":"text"}}\n`,
  `{"jsonrpc":"2.0","id":"x4","method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"video"}]}}\n`,
  `{"jsonrpc":"2.0","id":"x5","method":"session/prompt","params":{"sessionId":"__proto__","prompt":[]}}\n`,
  `{"jsonrpc":"2.0","id":"x6","method":"session/set_mode","params":{"sessionId":"s1","modeId":"x"}}\n`,
  `{"jsonrpc":"2.0","id":"x7","method":"session/set_config_option","params":{"sessionId":"s1","configId":"a","value":"b"}}\n`,
  `{"jsonrpc":"2.0","id":"x8","method":"constructor","params":{}}\n`,
  `{"jsonrpc":"2.0","id":"x9","method":"fs/read_text_file","params":{}}\n`,
  `{"jsonrpc":"2.0","method":"session/cancel"}\n`,
  `{"jsonrpc":"2.0","method":"nothing","params":${DEEP}}\n`,
  `{"jsonrpc":"2.0","id":"x10","method":"initialize","params":{"protocolVersion":"one"}}\n`,
  `{"jsonrpc":"2.0","id":0,"result":{}}\n`,
  `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}\n`,
  "\n\r\n   \n",
  "\u0000\uFFFF\n",
];

/** Collects what is logged as an error, until its disposal. */
function recordLog(): Disposable & { readonly entries: readonly unknown[] } {
  const { error } = console;
  const entries: unknown[] = [];
  console.error = (...entry) => void entries.push(entry);
  return { entries, [Symbol.dispose]: () => void (console.error = error) };
}

Deno.test("hostile ACP client: invalid lines are answered or ignored without a log, and the connection stays", async () => {
  using log = recordLog();
  const host = createHost();
  const client = new RawClient(host);
  const sessionId = await client.createSession();
  for (const line of NONSENSE) client.write(line);
  client.send("p", "session/prompt", prompt(sessionId));
  await client.until("session/request_permission").then((request) => client.write(allow(request)));
  assertEquals((await client.answer("p")).result, { stopReason: "end_turn" });
  for (const id of ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10"]) {
    assert((await client.answer(id)).error, id);
  }
  await checkEnd(client, host);
  assertEquals(log.entries, []);
});

Deno.test("hostile ACP client: any mixture of valid, invalid and cut lines leaves nothing", async () => {
  const cases = Deno.env.get("SWINK_PROVE") === "1" ? 1_000 : 60;
  for (let seed = 1; seed <= cases; seed++) {
    const random = seededRandom(seed);
    const host = createHost({ hangs: random() < 0.3 });
    const client: RawClient = new RawClient(host, {
      onMessage(message) {
        if (message.method === "session/request_permission" && random() < 0.7) {
          client.write(allow(message));
        }
      },
    });
    const sessionId = await client.createSession();
    const lines = [
      ...NONSENSE,
      `${
        JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "session/prompt",
          params: prompt(sessionId),
        })
      }\n`,
      `${JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } })}\n`,
      `${
        JSON.stringify({ jsonrpc: "2.0", id: 2, method: "session/close", params: { sessionId } })
      }\n`,
      `${
        JSON.stringify({
          jsonrpc: "2.0",
          id: 3,
          method: "session/new",
          params: { cwd: "/w", mcpServers: [] },
        })
      }\n`,
    ];
    for (let step = 0; step < 12; step++) {
      const line = lines[Math.floor(random() * lines.length)] ?? "";
      client.write(random() < 0.1 ? line.slice(0, Math.floor(random() * line.length)) : line);
      if (random() < 0.3) await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await checkEnd(client, host);
  }
});

Deno.test("hostile ACP client: thousands of prompts during a run are refused, and the run is not disturbed", async () => {
  const host = createHost({ hangs: true });
  const client = new RawClient(host);
  const sessionId = await client.createSession();
  for (let id = 0; id < 5_000; id++) client.send(id, "session/prompt", prompt(sessionId));
  assertStringIncludes((await client.answer(4_999)).error?.message ?? "", "already running");
  client.write({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
  assertEquals((await client.answer(0)).result, { stopReason: "cancelled" });
  await checkEnd(client, host);
});

Deno.test("hostile ACP client: opens at most 100 sessions", async () => {
  const host = createHost();
  const client = new RawClient({
    ...host,
    openSession: async (request) => ({
      ...await host.createSession(request),
      id: request.sessionId,
    }),
  });
  await client.createSession();
  for (let id = 0; id < 150; id++) {
    client.send(id, "session/new", { cwd: "/w", mcpServers: [] });
  }
  assertStringIncludes((await client.answer(149)).error?.message ?? "", "At most 100 sessions");
  assertEquals(host.open, 100);
  const load = { cwd: "/w", mcpServers: [] };
  client.send("l", "session/load", { ...load, sessionId: "saved" });
  assertStringIncludes((await client.answer("l")).error?.message ?? "", "At most 100 sessions");
  client.send("m", "session/load", { ...load, sessionId: "s2" });
  assert((await client.answer("m")).result, "one that is open is opened again");
  assertEquals(host.open, 100);
  client.send("c", "session/close", { sessionId: "s1" });
  await client.answer("c");
  client.send("d", "session/new", { cwd: "/w", mcpServers: [] });
  assert((await client.answer("d")).result);
  await checkEnd(client, host);
});

Deno.test("hostile ACP client: a message of more than 32 MB ends the connection with a reason", async () => {
  const host = createHost({ hangs: true });
  const client = new RawClient(host);
  client.send("p", "session/prompt", prompt(await client.createSession()));
  await client.until("session/update");
  client.write(`{"jsonrpc":"2.0","id":1,"method":"x","params":"`);
  const part = "x".repeat(1_000_000);
  for (let count = 0; count < 40; count++) client.write(part);
  await assertRejects(() => client.served, BadRequestError, "more than 32 MB");
  assertEquals([host.open, host.agents[0]?.state.isRunning], [0, false]);
});

Deno.test("hostile ACP client: messages whose answers have no id do not use the connection up", async () => {
  const host = createHost();
  const client = new RawClient(host);
  await client.createSession();
  const invalid = [
    { jsonrpc: "2.0", id: null, method: "session/unknown", params: {} },
    { jsonrpc: "2.0", id: { a: 1 }, method: "session/list", params: {} },
    { jsonrpc: "1.0", id: 1, method: "session/list" },
    { jsonrpc: "2.0", id: 2, method: 5 },
    { jsonrpc: "2.0" },
  ];
  for (const message of invalid) {
    for (let count = 0; count < 1_001; count++) client.write(message);
  }
  client.send("c", "session/close", { sessionId: "s1" });
  assertEquals((await client.answer("c")).result, {});
  await checkEnd(client, host);
});

Deno.test("hostile ACP client: answers about files and terminals with nonsense, which are errors of the request", async () => {
  const outcomes: string[] = [];
  const host: AcpHost = {
    name: "test",
    version: "1",
    createSession({ client }) {
      const read = async () => {
        const attempts: (Promise<unknown> | undefined)[] = [
          client.readTextFile?.("a.txt"),
          client.createTerminal?.({ command: "ls" }),
          client.createTerminal?.({ command: "ls" }).then((terminal) => terminal.output()),
          client.createTerminal?.({ command: "ls" }).then((terminal) => terminal.waitForExit()),
        ];
        const ends = await Promise.allSettled(attempts);
        outcomes.push(
          ...ends.map((end) =>
            end.status === "fulfilled" ? JSON.stringify(end.value) : end.reason.message
          ),
        );
        return { type: "answer", text: "Read" } as const;
      };
      const agent = new Agent({ model: "test/model", streamFn: scriptedStream([]) });
      return Promise.resolve({ id: "s1", agent, runCommand: read });
    },
  };
  const results = new Map<string, unknown[]>([
    ["fs/read_text_file", [{ content: 5 }]],
    ["terminal/create", [null, { terminalId: "t1" }, { terminalId: "t2" }]],
    ["terminal/output", [{ output: ["x"] }]],
    ["terminal/wait_for_exit", [{ exitCode: "zero", signal: 5 }]],
  ]);
  const client: RawClient = new RawClient(host, {
    onMessage({ id, method = "" }) {
      const result = results.get(method)?.shift();
      if (result !== undefined) client.write({ jsonrpc: "2.0", id, result });
    },
  });
  const clientCapabilities = { fs: { readTextFile: true }, terminal: true };
  client.send("i", "initialize", { protocolVersion: 1, clientCapabilities });
  await client.answer("i");
  client.send("n", "session/new", { cwd: "/work", mcpServers: [] });
  const { sessionId } = (await client.answer("n")).result;
  client.send("p", "session/prompt", { sessionId, prompt: [{ type: "text", text: "/read" }] });
  await client.answer("p");
  assertEquals(outcomes, [
    "The client must answer fs/read_text_file with a text content",
    "The client must answer terminal/create with a text terminalId",
    "The client must answer terminal/output with a text output",
    '{"exitCode":null,"signal":null}',
  ]);
  client.end();
  await client.served;
});

/** A host whose sessions take time to open and to close, and can be open once, as files with a lock. */
function createLockedHost(): AcpHost & { readonly locks: Set<string>; readonly log: string[] } {
  const locks = new Set<string>();
  const log: string[] = [];
  const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
  const open = async (id: string) => {
    if (locks.has(id)) throw new Error(`The session ${id} is in use`);
    locks.add(id);
    await turn();
    const agent = new Agent({ model: "test/model", streamFn: scriptedStream([reply("Done")]) });
    const close = async () => {
      await turn();
      locks.delete(id);
      log.push("closed");
    };
    log.push("opened");
    return { id, agent, close };
  };
  return {
    name: "test",
    version: "1",
    locks,
    log,
    createSession: () => open("s1"),
    openSession: ({ sessionId }) => open(sessionId),
    async deleteSession(id) {
      if (locks.has(id)) throw new Error(`The session ${id} is in use`);
      await turn();
      log.push("deleted");
    },
  };
}

Deno.test("hostile ACP client: closes, loads, resumes and deletes a session at once, which is done in this order", async () => {
  const host = createLockedHost();
  const client = new RawClient(host);
  const sessionId = await client.createSession();
  const directory = { sessionId, cwd: "/work", mcpServers: [] };
  client.send(1, "session/close", { sessionId });
  client.send(2, "session/load", directory);
  client.send(3, "session/resume", directory);
  client.send(4, "session/close", { sessionId });
  client.send(5, "session/delete", { sessionId });
  for (const id of [1, 2, 3, 4, 5]) assertEquals((await client.answer(id)).result, {}, `${id}`);
  assertEquals(host.log.join(" "), "opened closed opened closed opened closed deleted");
  client.send(6, "session/load", directory);
  client.end();
  await client.served;
  assertEquals([...host.locks], []);
});

Deno.test("hostile ACP client: one that takes no answers is not read any more", async () => {
  const host = createHost();
  const encoder = new TextEncoder();
  let pulls = 0;
  let answers = 0;
  const stuck = Promise.withResolvers<void>();
  const input = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // A client writes in other turns of the event loop than those in which it is read.
      await new Promise((resolve) => setTimeout(resolve, 0));
      const method = pulls === 0 ? "initialize" : "session/new";
      const params = pulls === 0 ? { protocolVersion: 1 } : { cwd: "/w", mcpServers: [] };
      const lines = Array.from(
        { length: pulls === 0 ? 1 : 100 },
        (_, index) =>
          `${JSON.stringify({ jsonrpc: "2.0", id: pulls * 1_000 + index, method, params })}\n`,
      );
      pulls++;
      controller.enqueue(encoder.encode(lines.join("")));
    },
  }, { highWaterMark: 0 });
  const output = new WritableStream<Uint8Array>({
    write: () => ++answers > 1 ? stuck.promise : undefined,
  });
  const abort = new AbortController();
  const served = serveAcp(host, { input, output, signal: abort.signal });
  let last = -1;
  for (let stable = 0; stable < 50;) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    stable = pulls === last ? stable + 1 : 0;
    last = pulls;
  }
  assert(pulls >= 10 && pulls < 20, `${pulls}`);
  abort.abort();
  stuck.resolve();
  await served;
  assertEquals(host.open, 0);
});
