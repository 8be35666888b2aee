import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { EventReader } from "../server/server_fixture.ts";
import { scriptedCall, scriptedReply } from "./fake_host.ts";
import { type MockAnswer, type MockProvider, startMockProvider } from "./mock_provider.ts";
import { startSwink, type SwinkProcess } from "./swink_process.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const MODEL = ["-m", "anthropic/claude-sonnet-5-5"];

/** A server in a project of its own. Disposing of it ends it. */
class Served implements AsyncDisposable {
  readonly home: TemporaryDirectory;
  readonly provider: MockProvider;
  #swink: SwinkProcess | undefined;
  url = "";
  token = "";

  constructor(home: TemporaryDirectory, provider: MockProvider) {
    this.home = home;
    this.provider = provider;
  }

  static async start(
    answers: readonly MockAnswer[],
    args: readonly string[] = [],
    config = "",
  ): Promise<Served> {
    const home = await createTemporaryDirectory({ "p/a.txt": "A\n", "swink/config.toml": config });
    const served = new Served(home, startMockProvider(...answers));
    await served.restart(args);
    return served;
  }

  get swink(): SwinkProcess {
    assert(this.#swink);
    return this.#swink;
  }

  async restart(
    args: readonly string[] = [],
    model: readonly string[] = [...MODEL, "--base-url", this.provider.url],
  ): Promise<void> {
    const swink = this.startProgram(["serve", "--port", "0", ...model, ...args]);
    this.#swink = swink;
    await swink.waitFor(() => /^http:\S+\n/m.test(swink.output));
    const [, url = "", token = ""] = /^(http:\/\/\S+?)\/(?:#token=(\S+))?\n/m.exec(swink.output) ??
      [];
    this.url = url;
    this.token = token || this.token;
  }

  /** Starts the program in the directory of the server, with its sessions. */
  startProgram(args: readonly string[]): SwinkProcess {
    return startSwink([...args, "--sandbox", "off"], {
      cwd: `${this.home.path}/p`,
      env: {
        XDG_CONFIG_HOME: this.home.path,
        XDG_STATE_HOME: this.home.path,
        ANTHROPIC_API_KEY: "k",
      },
    });
  }

  async call(method: string, path: string, body?: object, headers = {}): Promise<Response> {
    return await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  // deno-lint-ignore no-explicit-any -- tests read members of many types
  async json(status: number, ...call: Parameters<Served["call"]>): Promise<any> {
    const response = await this.call(...call);
    const text = await response.text();
    assertEquals(response.status, status, text);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** Waits until no run of a session is active, and returns its events. */
  async waitForState(id: string, after = "") {
    const headers = after === "" ? {} : { "last-event-id": after };
    const response = await this.call("GET", `/v1/sessions/${id}/events`, undefined, headers);
    assertEquals(response.status, 200);
    const reader = new EventReader(response);
    const events = await reader.until(({ type, data }) =>
      type === "state" && data.status !== "running"
    );
    await reader.close();
    return events;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#swink?.[Symbol.asyncDispose]();
    await this.provider[Symbol.asyncDispose]();
    await this.home[Symbol.asyncDispose]();
  }
}

Deno.test("swink serve: a client prompts, approves a change, and finds the session in swink", async () => {
  await using served = await Served.start([
    scriptedReply(scriptedCall("write_file", { path: "b.txt", content: "B\n" })),
    scriptedReply("Written."),
  ]);
  assertEquals(served.token.length, 64);
  const { id } = await served.json(201, "POST", "/v1/sessions", { title: "Write" });
  await served.json(202, "POST", `/v1/sessions/${id}/prompt`, { text: "Write b.txt" });
  await served.waitForState(id);
  const { pendingApprovals } = await served.json(200, "GET", `/v1/sessions/${id}/approvals`);
  assertEquals(pendingApprovals[0].name, "write_file");
  const decisions = { [pendingApprovals[0].toolCallId]: { type: "approved", scope: "tool" } };
  await served.json(202, "POST", `/v1/sessions/${id}/approvals`, { decisions });
  await served.waitForState(id);
  assertEquals(served.home.read("p/b.txt"), "B\n");
  const { entries } = await served.json(200, "GET", `/v1/sessions/${id}/entries?limit=200`);
  const grants = entries.filter(({ type }: { type: string }) => type === "grants_changed");
  assertEquals(grants.at(-1)?.grants, [{ type: "tool", name: "write_file" }]);

  await using list = startSwink(["sessions", "list"], {
    cwd: `${served.home.path}/p`,
    env: { XDG_CONFIG_HOME: served.home.path, XDG_STATE_HOME: served.home.path },
  });
  assertMatch((await list.waitForExit()).output, /Write/);
  served.swink.kill("SIGTERM");
  const exit = await served.swink.waitForExit();
  assertEquals(exit.code, 0, exit.messages);
});

Deno.test("swink serve: an approval for all calls of a tool holds for later runs of the session", async () => {
  const write = (name: string) => scriptedCall("write_file", { path: name, content: name });
  await using served = await Served.start([
    scriptedReply(write("b.txt")),
    scriptedReply("Written."),
    scriptedReply(write("c.txt")),
    scriptedReply("Written, too."),
  ]);
  const { id } = await served.json(201, "POST", "/v1/sessions");
  const path = `/v1/sessions/${id}`;
  await served.json(202, "POST", `${path}/prompt`, { text: "Write b.txt" });
  await served.waitForState(id);
  const { pendingApprovals: [call] } = await served.json(200, "GET", `${path}/approvals`);
  const decisions = { [call.toolCallId]: { type: "approved", scope: "tool" } };
  await served.json(202, "POST", `${path}/approvals`, { decisions });
  await served.waitForState(id);
  await served.json(202, "POST", `${path}/prompt`, { text: "Write c.txt" });
  const events = await served.waitForState(id);
  assertEquals(events.at(-1)?.data.status, "idle");
  assertEquals(served.home.read("p/c.txt"), "c.txt");
});

Deno.test("swink serve: nothing is lost or repeated for a client when the process is killed in a run", async () => {
  await using served = await Served.start([
    scriptedReply("First."),
    { hangsAfter: "The reply that is cut off" },
    scriptedReply("Third."),
  ]);
  const { id } = await served.json(201, "POST", "/v1/sessions");
  const path = `/v1/sessions/${id}`;
  await served.json(202, "POST", `${path}/prompt`, { text: "One" });
  await served.waitForState(id);
  await served.json(202, "POST", `${path}/prompt`, { text: "Two" });
  const reader = new EventReader(await served.call("GET", `${path}/events`));
  const before = await reader.until(({ type }) => type === "state" || type === "message_update");
  const last = before.findLast((event) => event.id !== undefined)?.id ?? "";
  served.swink.kill("SIGKILL");
  await reader.until(() => false).catch(() => {});
  await served.swink.waitForExit();

  await served.restart();
  const session = await served.json(200, "GET", path);
  assertEquals(session.status, "interrupted");
  await served.json(202, "POST", `${path}/continue`);
  const after = await served.waitForState(id, last);
  const received = [...before, ...after].filter(({ type }) => type === "entry");
  assert(!after.some(({ type }) => type === "reset"));
  const { entries } = await served.json(200, "GET", `${path}/entries?limit=200`);
  assertEquals(
    received.map(({ data }) => data.id),
    entries.map(({ id }: { id: string }) => id),
  );
  const texts = received.flatMap(({ data }) =>
    data.message?.role === "assistant" ? [data.message.content[0].text] : []
  );
  assertEquals(texts, ["First.", "Third."]);
});

Deno.test("swink serve: a signal waits for the active run, a second one stops it", async () => {
  await using served = await Served.start(
    [{ hangsAfter: "Waiting" }],
    ["--shutdown-timeout", "1"],
  );
  const { id } = await served.json(201, "POST", "/v1/sessions");
  await served.json(202, "POST", `/v1/sessions/${id}/prompt`, { text: "Wait" });
  const reader = new EventReader(await served.call("GET", `/v1/sessions/${id}/events`));
  await reader.until(({ type }) => type === "state");
  served.swink.kill("SIGINT");
  const rest = await reader.until(() => false);
  assertEquals(rest.at(-1)?.type, "end");
  assertEquals(rest.at(-1)?.data.reason, "shutdown");
  const { code, messages } = await served.swink.waitForExit();
  assertEquals(code, 0, messages);
  assertMatch(messages, /1 run was stopped, and can be continued/);
});

Deno.test("swink serve: other names, pages and callers without the token are rejected by the real server", async () => {
  await using served = await Served.start([]);
  const { port } = new URL(served.url);
  const send = async (head: string): Promise<string> => {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
    await connection.write(new TextEncoder().encode(`${head}\r\nConnection: close\r\n\r\n`));
    let text = "";
    const chunk = new Uint8Array(4096);
    while (true) {
      const length = await connection.read(chunk);
      if (length === null) return text.split("\r\n")[0] ?? "";
      text += new TextDecoder().decode(chunk.subarray(0, length));
    }
  };
  const authorization = `Authorization: Bearer ${served.token}`;
  const cases: [string, RegExp][] = [
    [`GET /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${authorization}`, / 200 /],
    [`GET /v1/sessions HTTP/1.1\r\nHost: evil.example\r\n${authorization}`, / 421 /],
    [
      `GET http://evil.example/v1/sessions HTTP/1.1\r\nHost: localhost\r\n${authorization}`,
      / 4\d\d /,
    ],
    [`GET /v1/sessions HTTP/1.1\r\nHost: localhost`, / 401 /],
    [`GET //v1/sessions HTTP/1.1\r\nHost: localhost`, / 401 /],
    [`GET /health/../v1/sessions HTTP/1.1\r\nHost: localhost`, / 401 /],
    [`GET /%2e%2e/v1/sessions HTTP/1.1\r\nHost: localhost`, / 401 /],
    [`GET /v1/sessions?token=${served.token} HTTP/1.1\r\nHost: localhost`, / 401 /],
    [`OPTIONS * HTTP/1.1\r\nHost: localhost`, / 4\d\d /],
    [
      `GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n${authorization}`,
      / 403 /,
    ],
  ];
  for (const [head, status] of cases) assertMatch(await send(head), status, head);
});

Deno.test("swink serve: tokens of a file have the sessions of their tenants", async () => {
  await using home = await createTemporaryDirectory();
  const [acme, zoo] = ["a".repeat(32), "z".repeat(32)];
  home.write("tokens.txt", `# tokens\n${acme} acme\n\n${zoo} zoo\n`, 0o600);
  await using served = await Served.start([], ["--token-file", `${home.path}/tokens.txt`]);
  assertEquals(served.token, "");
  served.token = acme;
  const { id } = await served.json(201, "POST", "/v1/sessions");
  served.token = zoo;
  await served.json(404, "GET", `/v1/sessions/${id}`);
  assertEquals((await served.json(200, "GET", "/v1/sessions")).sessions, []);
});

Deno.test("swink serve: a small budget of the tenants limits the length of replies, and allows requests", async () => {
  await using served = await Served.start([scriptedReply("Hello.")], ["--max-budget-usd", "1"]);
  const { id } = await served.json(201, "POST", "/v1/sessions", {});
  await served.json(202, "POST", `/v1/sessions/${id}/prompt`, { text: "Hi" });
  await served.waitForState(id);
  assertEquals(served.provider.requests.map((body) => JSON.parse(body).max_tokens), [25_000]);
});

Deno.test("swink serve: hooks of a prompt add to it, or block it before a request", async () => {
  const command =
    "if grep -q secret; then echo 'no secrets' >&2; exit 2; else echo 'Branch: main'; fi";
  await using served = await Served.start(
    [scriptedReply("On main.")],
    [],
    `[[hooks.UserPromptSubmit]]\ncommand = ${JSON.stringify(command)}\n`,
  );
  const { id } = await served.json(201, "POST", "/v1/sessions");
  const path = `/v1/sessions/${id}`;
  const blocked = await served.json(400, "POST", `${path}/prompt`, { text: "Tell me the secret" });
  assertMatch(blocked.error.message, /A hook blocked the prompt: no secrets/);
  assertEquals((await served.json(200, "GET", path)).messages, 0);
  assertEquals(served.provider.requests.length, 0);
  await served.json(202, "POST", `${path}/prompt`, { text: "Where are you?" });
  await served.waitForState(id);
  assertEquals(served.provider.requests.length, 1);
  assertMatch(served.provider.requests[0] ?? "", /Branch: main/);
  assert(!served.provider.requests[0]?.includes("secret"));
});

Deno.test("swink serve: continues no session of --base-url with another server", async () => {
  await using served = await Served.start([scriptedReply("One."), scriptedReply("Two.")]);
  const { id } = await served.json(201, "POST", "/v1/sessions");
  const path = `/v1/sessions/${id}`;
  await served.json(202, "POST", `${path}/prompt`, { text: "One" });
  await served.waitForState(id);
  const { entries } = await served.json(200, "GET", `${path}/entries?limit=200`);
  assert(!JSON.stringify(entries).includes(served.provider.url));
  served.swink.kill("SIGTERM");
  await served.swink.waitForExit();
  await using run = served.startProgram([
    "run",
    "-r",
    id,
    "--base-url",
    served.provider.url,
    "Two",
  ]);
  await run.waitForText("1 turn");
  await run.waitForExit();
  await served.restart([], []);
  await served.json(500, "POST", `${path}/prompt`, { text: "Three" });
  const { url } = served.provider;
  const reason = `Session ${id}: The session used the server at ${url}`;
  await served.swink.waitFor(() => served.swink.messages.includes(reason));
  assertStringIncludes(served.swink.messages, `To continue it there, add --base-url ${url}`);
});

Deno.test("swink serve: a fallback model replies where the key command of the model fails", async () => {
  const home = await createTemporaryDirectory({ "p/a.txt": "A\n" });
  await using served = new Served(home, startMockProvider(scriptedReply("Hello.")));
  home.write(
    "swink/config.toml",
    `[providers.broken]
base_url = "http://localhost:1"
key_command = "exit 3"
[providers.anthropic]
base_url = "${served.provider.url}"
`,
  );
  await served.restart(
    ["--fallback-model", "anthropic/claude-sonnet-5-5"],
    ["-m", "broken/model"],
  );
  const { id } = await served.json(201, "POST", "/v1/sessions");
  await served.json(202, "POST", `/v1/sessions/${id}/prompt`, { text: "Hello" });
  const events = await served.waitForState(id);
  assertEquals(events.at(-1)?.data.status, "idle");
  assertEquals(served.provider.requests.length, 1);
  assertStringIncludes(served.swink.messages, "broken/model cannot be used");
});
