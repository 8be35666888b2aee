import { Validator } from "@seriousme/openapi-schema-validator";
import { assert, assertEquals } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { hang, ManualClock, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { createCounter, ORIGIN, TestServer, TOKENS } from "./server_fixture.ts";

interface Operation {
  operationId: string;
  security?: unknown[];
  parameters: { name: string; in: string }[];
  requestBody?: unknown;
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

interface Described {
  method: string;
  path: string;
  operation: Operation;
}

async function readDescription() {
  const test = new TestServer();
  const document = await test.json(200, "GET", "/v1/openapi.json");
  await test.server.close();
  const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): Described => ({
        method: method.toUpperCase(),
        path,
        operation,
      }))
    );
  return { document, operations };
}

Deno.test("OpenAPI: the description is valid, and names every operation once", async () => {
  const { document, operations } = await readDescription();
  const { valid, errors } = await new Validator().validate(document);
  assertEquals(errors, undefined);
  assert(valid);
  const names = operations.map(({ operation }) => operation.operationId);
  assertEquals(new Set(names).size, names.length);
});

Deno.test("OpenAPI: every response of every operation is described, and every described one occurs", async () => {
  const { document, operations } = await readDescription();
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(document, "api");
  const seen = new Set<string>();

  /** Checks a response by the description of its operation. */
  async function check(name: string, response: Response): Promise<void> {
    const { operation } = operations.find(({ operation }) => operation.operationId === name) ??
      { operation: undefined };
    assert(operation, `There is no operation ${name}`);
    const { status } = response;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    const text = isStream ? "" : await response.text();
    if (isStream) await response.body?.cancel();
    const described = operation.responses[status] ?? (status >= 500 && operation.responses.default);
    assert(described, `${name} is not described with status ${status}: ${text}`);
    seen.add(`${name} ${operation.responses[status] ? status : "default"}`);
    const [type, content] = Object.entries(described.content ?? {})[0] ?? [];
    assertEquals(response.headers.get("content-type")?.split(";")[0], type, `${name} ${status}`);
    if (type !== "application/json") return;
    const schema = content?.schema as { $ref: string };
    const validate = ajv.getSchema(`api${schema.$ref}`);
    assert(validate, schema.$ref);
    assert(
      validate(JSON.parse(text)),
      `${name} ${status}: ${ajv.errorsText(validate.errors)} ${text}`,
    );
  }

  await checkFailures(operations, check);
  await checkSuccesses(check);
  const expected = operations.flatMap(({ operation: { operationId, responses } }) =>
    Object.keys(responses).map((status) => `${operationId} ${status}`)
  );
  // No operation fails in these tests, except for those that use the store or the agent.
  const withoutFailure = [...expected].filter((item) => !seen.has(item));
  assertEquals(withoutFailure.filter((item) => !item.endsWith(" default")), []);
  assertEquals([...seen].filter((item) => !expected.includes(item)), []);
});

type Check = (name: string, response: Response) => Promise<void>;

/** The responses that all operations have in common. */
async function checkFailures(operations: readonly Described[], check: Check): Promise<void> {
  const open = new TestServer();
  const closed = new TestServer();
  await closed.server.close();
  const busy = new TestServer({ limits: { requestsPerMinute: 0 } });
  const small = new TestServer({ limits: { maxBodyBytes: 10 } });
  const clock = new ManualClock();
  const slow = new TestServer({ clock });
  const broken = new TestServer({
    store: new Proxy(new InMemorySessionStore(), {
      get: () => () => Promise.reject(new Error("The store failed")),
    }),
  });
  const id = await open.create();
  for (const { method, path, operation } of operations) {
    const name = operation.operationId;
    const url = path.replace("{id}", "missing");
    const hasBody = operation.requestBody !== undefined;
    const body = hasBody ? createBody(name) : undefined;
    const origin = { headers: { origin: "https://evil.example" }, body };
    await check(name, await open.call(method, url, origin));
    await check(name, await open.call(method, `http://evil.example${url}`, { body }));
    if (!operation.security) {
      await check(name, await open.call(method, url, { token: "", body }));
      await check(name, await busy.call(method, url, { body }));
      await check(name, await closed.call(method, url, { body }));
    }
    if (path.includes("{id}")) {
      await check(name, await open.call(method, url, { body }));
      await check(name, await broken.call(method, url, { body }));
    }
    if (!hasBody) continue;
    const existing = path.replace("{id}", id);
    await check(name, await open.call(method, existing, { body: { other: 1 } }));
    await check(name, await small.call(method, url, { body: { text: "longer than 10 bytes" } }));
    const headers = { "content-type": "text/plain" };
    await check(name, await open.call(method, existing, { body: {}, headers }));
    const stalled = slow.server.fetch(
      new Request(ORIGIN + url, {
        method,
        headers: {
          authorization: `Bearer ${TOKENS.acme}`,
          "content-type": "application/json",
        },
        body: new ReadableStream({ pull: () => new Promise<void>(() => {}) }),
        duplex: "half",
      } as RequestInit),
      { remoteAddr: { hostname: "127.0.0.1" } },
    );
    while (!clock.waits.includes(30_000)) await new Promise((resolve) => setTimeout(resolve));
    clock.waits.length = 0;
    clock.advance(30_000);
    await check(name, await stalled);
  }
  for (const test of [open, busy, small, slow, broken]) await test.server.close({ timeoutMs: 0 });
}

function createBody(name: string): object {
  switch (name) {
    case "sendPrompt":
    case "steerRun":
    case "followUpRun":
      return { text: "Hello" };
    case "decideApprovals":
      return { decisions: { a: { type: "denied" } } };
    default:
      return {};
  }
}

/** The other responses. */
async function checkSuccesses(check: Check): Promise<void> {
  const test = new TestServer({
    agent: {
      streamFn: scriptedStream([
        reply([toolCall("count", { what: "sheep" }, { id: "a" })]),
        hang(),
      ]),
      tools: [createCounter([])],
      approve: () => ({ type: "pending" }),
    },
    limits: { eventStreams: 3 },
  });
  const token = TOKENS.operator;
  await check("getMetrics", await test.call("GET", "/metrics", { token }));
  await check("getDescription", await test.call("GET", "/v1/openapi.json"));
  await check("getHealth", await test.call("GET", "/health"));
  await check("getReadiness", await test.call("GET", "/ready"));
  for (const path of ["/", "/page.js", "/page.css"]) {
    const name = { "/": "getPage", "/page.js": "getPageScript", "/page.css": "getPageStyle" }[path];
    const response = await test.call("GET", path, { token: "" });
    await check(name ?? "", response);
  }
  const create = { body: { id: "s", title: "S", metadata: { a: 1 } } };
  await check("createSession", await test.call("POST", "/v1/sessions", create));
  await check("createSession", await test.call("POST", "/v1/sessions", create));
  await check("listSessions", await test.call("GET", "/v1/sessions?limit=1"));
  await check("listSessions", await test.call("GET", "/v1/sessions?limit=0"));
  await check("getSession", await test.call("GET", "/v1/sessions/s"));
  await check("listEntries", await test.call("GET", "/v1/sessions/s/entries?limit=1"));
  await check("listEntries", await test.call("GET", "/v1/sessions/s/entries?after=-1"));
  await check("streamEvents", await test.call("GET", "/v1/sessions/s/events"));
  await check("streamEvents", await test.call("GET", "/v1/sessions/s/events?after=x"));
  for (const action of ["steer", "follow_up"]) {
    const name = action === "steer" ? "steerRun" : "followUpRun";
    await check(name, await test.call("POST", `/v1/sessions/s/${action}`, { body: { text: "x" } }));
  }
  await check("continueRun", await test.call("POST", "/v1/sessions/s/continue"));
  await check("abortRun", await test.call("POST", "/v1/sessions/s/abort", { body: {} }));
  const decisions = { body: { decisions: { a: { type: "approved", scope: "once" } } } };
  await check("decideApprovals", await test.call("POST", "/v1/sessions/s/approvals", decisions));
  const prompt = { body: { text: "Count" }, headers: { "idempotency-key": "k" } };
  await check("sendPrompt", await test.call("POST", "/v1/sessions/s/prompt", prompt));
  await test.waitForIdle("s");
  await check("sendPrompt", await test.call("POST", "/v1/sessions/s/prompt", prompt));
  const other = { ...prompt, body: { text: "Other" } };
  await check("sendPrompt", await test.call("POST", "/v1/sessions/s/prompt", other));
  await check("getSession", await test.call("GET", "/v1/sessions/s"));
  await check("listApprovals", await test.call("GET", "/v1/sessions/s/approvals"));
  await check("decideApprovals", await test.call("POST", "/v1/sessions/s/approvals", decisions));
  await check(
    "sendPrompt",
    await test.call("POST", "/v1/sessions/s/prompt", { body: { text: "x" } }),
  );
  await check("deleteSession", await test.call("DELETE", "/v1/sessions/s"));
  await check("getSession", await test.call("GET", "/v1/sessions/s"));
  for (const action of ["steer", "follow_up"]) {
    const name = action === "steer" ? "steerRun" : "followUpRun";
    await check(name, await test.call("POST", `/v1/sessions/s/${action}`, { body: { text: "x" } }));
  }
  await check("abortRun", await test.call("POST", "/v1/sessions/s/abort", { body: {} }));
  await test.waitForIdle("s");
  await check("continueRun", await test.call("POST", "/v1/sessions/s/continue"));
  await check("abortRun", await test.call("POST", "/v1/sessions/s/abort", { body: {} }));
  await test.waitForIdle("s");
  await check("deleteSession", await test.call("DELETE", "/v1/sessions/s"));
  await test.server.close({ timeoutMs: 0 });
  await check("getReadiness", await test.call("GET", "/ready"));
}
