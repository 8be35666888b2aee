import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createFakeHost, type FakeHostOptions, scriptedCall, scriptedReply } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

async function runSession(options: FakeHostOptions, ...args: string[]) {
  await using directory = await createTemporaryDirectory();
  const host = createFakeHost(options);
  const code = await main(["run", "--cwd", directory.path, ...args, "Work"], host);
  return { code, host };
}

function createErrorResponse(status: number, type: string, message: string) {
  const headers = { "content-type": "application/json", "x-should-retry": "false" };
  return { status, headers, body: JSON.stringify({ type: "error", error: { type, message } }) };
}

Deno.test("exit code: 3 without a model, with the ways to configure one", async () => {
  const { code, host } = await runSession({ env: {} });
  assertEquals({ code, output: host.output }, { code: 3, output: "" });
  for (const text of ["ANTHROPIC_API_KEY", "ollama/", "--base-url", "swink demo"]) {
    assertStringIncludes(host.messages, text);
  }
});

Deno.test("exit code: 3 for --base-url without a model", async () => {
  const { code, host } = await runSession({ env: {} }, "--base-url", "http://127.0.0.1:1");
  assertEquals(code, 3);
  assertStringIncludes(host.messages, "-m openai/MODEL --base-url URL");
});

Deno.test("exit code: 3 without a key, with the name of the variable", async () => {
  for (const options of [[], ["--base-url", "http://127.0.0.1:1"]]) {
    const model = ["-m", "anthropic/claude-opus-5"];
    const { code, host } = await runSession({ env: {} }, ...model, ...options);
    assertEquals(code, 3);
    assertStringIncludes(
      host.messages,
      "swink: No API key for anthropic: set ANTHROPIC_API_KEY, or run swink login anthropic\n",
    );
    assertEquals(host.requests.length, 0);
  }
});

Deno.test("exit code: 3 for an unknown provider, with a suggestion", async () => {
  const { code, host } = await runSession({}, "-m", "opneai/gpt-5");
  assertEquals(code, 3);
  assertStringIncludes(host.messages, 'Unknown provider "opneai". Did you mean openai?');
});

Deno.test("swink run: a server at --base-url needs no key", async () => {
  const chunk = JSON.stringify({
    choices: [{ index: 0, delta: { content: "Hi." }, finish_reason: "stop" }],
  });
  const body = `data: ${chunk}\n\ndata: [DONE]\n\n`;
  const response = { headers: { "content-type": "text/event-stream" }, body };
  for (const model of ["openai/tiny", "mine/tiny"]) {
    const args = ["-m", model, "--base-url", "http://127.0.0.1:1/v1"];
    const { code, host } = await runSession({ model: [response], env: {} }, ...args);
    assertEquals({ code, output: host.output }, { code: 0, output: "Hi.\n" });
    assertEquals(host.requests[0]?.headers.has("authorization"), false);
  }
});

Deno.test("exit code: 3 for a rejected key after one request, without showing the key", async () => {
  const model = [
    createErrorResponse(401, "authentication_error", "invalid x-api-key sk-ant-secret"),
  ];
  const { code, host } = await runSession({ model, env: { ANTHROPIC_API_KEY: "sk-ant-secret" } });
  assertEquals({ code, requests: host.requests.length }, { code: 3, requests: 1 });
  assertStringIncludes(host.messages, "ANTHROPIC_API_KEY");
  assert(!host.screen.includes("sk-ant-secret"));
});

Deno.test("exit code: 3 for an unknown model", async () => {
  const { code } = await runSession({
    model: [createErrorResponse(404, "not_found_error", "model: nope")],
  });
  assertEquals(code, 3);
});

Deno.test("exit code: 4 for rate limits and exhausted credit", async () => {
  assertEquals(
    (await runSession({ model: [createErrorResponse(429, "rate_limit_error", "slow down")] })).code,
    4,
  );
  assertEquals(
    (await runSession({ model: [createErrorResponse(402, "billing_error", "no credit")] })).code,
    4,
  );
});

Deno.test("exit code: 4 when the provider stays overloaded after retries", async () => {
  const body = JSON.stringify({
    type: "error",
    error: { type: "overloaded_error", message: "busy" },
  });
  const overloaded = {
    status: 529,
    headers: { "content-type": "application/json", "retry-after": "0" },
    body,
  };
  const { code, host } = await runSession({ model: [overloaded, overloaded, overloaded] });
  assertEquals({ code, requests: host.requests.length }, { code: 4, requests: 3 });
  assertStringIncludes(
    host.messages,
    "attempt 1 failed, retrying now: anthropic answered 529: busy",
  );
  assertStringIncludes(
    host.messages,
    "swink: anthropic answered 529: busy\nGave up after 3 attempts. Try again later.\n",
  );
});

Deno.test("exit code: 4 reports the attempts of the last turn", async () => {
  const overloaded = {
    status: 529,
    headers: { "content-type": "application/json", "retry-after": "0" },
    body: '{"type":"error","error":{"type":"overloaded_error","message":"busy"}}',
  };
  const call = scriptedReply(scriptedCall("list_directory"));
  const { code, host } = await runSession({
    model: [overloaded, call, overloaded, overloaded, overloaded],
  });
  assertEquals({ code, requests: host.requests.length }, { code: 4, requests: 5 });
  assertStringIncludes(host.messages, "Gave up after 3 attempts.");
});

Deno.test("exit code: 4 without a retry when the provider requests a wait of hours", async () => {
  const limited = {
    status: 429,
    headers: { "content-type": "application/json", "retry-after": "7200" },
    body: '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}',
  };
  const { code, host } = await runSession({ model: [limited] });
  assertEquals({ code, requests: host.requests.length }, { code: 4, requests: 1 });
  assertStringIncludes(
    host.messages,
    "swink: anthropic answered 429: slow down\nTry again in 2 h 0 min.\n",
  );
});

Deno.test("exit code: 3 for a server without an API, with the URL", async () => {
  const headers = { "content-type": "text/html" };
  const args = ["-m", "openai/tiny", "--base-url", "http://127.0.0.1:1/v1"];
  for (const page of [{ status: 404, headers, body: "<p>no" }, { headers, body: "<p>hi" }]) {
    const { code, host } = await runSession({ model: [page, page, page] }, ...args);
    assertEquals(code, 3);
    assertStringIncludes(host.messages, "check --base-url (asked: http://127.0.0.1:1/v1)");
  }
});

Deno.test("exit code: 1 for a rejected request", async () => {
  const { code, host } = await runSession({
    model: [createErrorResponse(400, "invalid_request_error", "no")],
  });
  assertEquals(code, 1);
  assertStringIncludes(host.messages, "swink: anthropic answered 400: no");
});

Deno.test("exit code: 5 when --max-turns is reached", async () => {
  const model = [
    scriptedReply(scriptedCall("list_directory")),
    scriptedReply(scriptedCall("list_directory")),
  ];
  const { code, host } = await runSession({ model }, "--max-turns", "2");
  assertEquals({ code, requests: host.requests.length }, { code: 5, requests: 2 });
  assertStringIncludes(host.messages, "swink: stopped: The run reached its limit of 2 turns");
});

Deno.test("exit code: 5 for a reply that reached the output limit; its text is printed", async () => {
  const model = [{ blocks: ["Half an ans"], stopReason: "max_tokens" }];
  const { code, host } = await runSession({ model });
  assertEquals({ code, output: host.output }, { code: 5, output: "Half an ans\n" });
});

Deno.test("exit code: 6 when a call requires approval in a non-interactive run", async () => {
  const model = [
    scriptedReply(scriptedCall("bash", { command: "touch x" })),
    scriptedReply("I could not."),
  ];
  const { code, host } = await runSession({ model });
  assertEquals({ code, output: host.output }, { code: 6, output: "I could not.\n" });
  assertStringIncludes(
    host.messages,
    "swink: tool calls refused, approval is not possible in this run: bash",
  );
  assertStringIncludes(host.messages, "--approve-all");
  assertStringIncludes(host.requests[1]?.body ?? "", "this run is not interactive");
});

Deno.test("approval: the refusal of a call in a non-interactive run has the reason why it is asked about", async () => {
  const model = [scriptedReply(scriptedCall("bash", { command: "rg key .." })), scriptedReply("I")];
  const { host } = await runSession({ model });
  assertStringIncludes(
    host.requests[1]?.body ?? "",
    "this run is not interactive. The command may read files with secrets: it may search a directory",
  );
});

Deno.test("approval: --approve-all or the name of the tool in --allowed-tools approves a call, a pattern only if it covers it", async () => {
  const model = [
    scriptedReply(scriptedCall("bash", { command: "echo done > x" })),
    scriptedReply("Done."),
  ];
  for (
    const args of [["--approve-all"], ["--allowed-tools", "bash"], [
      "--allowed-tools",
      "bash(echo *),read_file",
    ]]
  ) {
    const { code, host } = await runSession({ model }, ...args);
    const isApproved = !args.join().includes("(");
    assertEquals(code, isApproved ? 0 : 6, args.join(" "));
    assertStringIncludes(host.requests[1]?.body ?? "", isApproved ? "Exit code: 0" : "rejected");
  }
});

Deno.test("approval: without confinement --allowed-tools bash approves no command, says so, and a pattern does", async () => {
  const attempt = async (rule: string) => {
    const model = [
      scriptedReply(scriptedCall("bash", { command: "touch x" })),
      scriptedReply("Done."),
    ];
    const args = ["--sandbox", "off", "--allowed-tools", rule];
    const { code, host } = await runSession({ model }, ...args);
    return { code, request: host.requests[1]?.body ?? "" };
  };
  const { code, request } = await attempt("Bash");
  assertEquals(code, 6);
  assertStringIncludes(request, "nothing confines commands here, so that the rule");
  assertEquals((await attempt("bash(touch *)")).code, 0);
  const other = await attempt("bash(rm *)");
  assertEquals(other.code, 6);
  assert(!other.request.includes("nothing confines commands"));
});

Deno.test("approval: a pattern in --allowed-tools approves matching commands only, also under a well-known name", async () => {
  const attempt = async (command: string, rule = "bash(touch *)") => {
    const model = [scriptedReply(scriptedCall("bash", { command })), scriptedReply("Done.")];
    return (await runSession({ model }, "--allowed-tools", rule)).code;
  };
  assertEquals(await attempt("touch x", "Bash(touch *)"), 0);
  assertEquals(await attempt("touch x"), 0);
  assertEquals(await attempt("rm x"), 6);
  assertEquals(await attempt("touch x; rm x"), 6);
});

Deno.test("approval: --disallowed-tools removes tools and forbids commands", async () => {
  const getToolNames = (body = "{}") =>
    JSON.parse(body).tools.map(({ name }: { name: string }) => name).sort();
  const removed = await runSession(
    { model: [scriptedReply("Hi.")] },
    "--disallowed-tools",
    "bash,edit_file write_file",
  );
  assertEquals(getToolNames(removed.host.requests[0]?.body), [
    "list_directory",
    "read_file",
    "search_files",
    "task",
  ]);
  const getTools = async (...args: string[]) => {
    const { host } = await runSession({ model: [scriptedReply("Hi.")] }, ...args);
    return getToolNames(host.requests[0]?.body);
  };
  assertEquals(await getTools("--tools", "read_file"), ["read_file"]);
  assertEquals(await getTools("--tools", "Read,Glob,Bash"), [
    "bash",
    "list_directory",
    "read_file",
    "search_files",
  ]);
  assertEquals((await getTools("--allowed-tools", "Bash(git *)")).length, 7);
  const model = [
    scriptedReply(scriptedCall("bash", { command: "rm -rf x" })),
    scriptedReply("Done."),
  ];
  const { host } = await runSession({ model }, "--approve-all", "--disallowed-tools", "bash(rm *)");
  assertStringIncludes(host.requests[1]?.body ?? "", "forbids this call");
});

Deno.test("approval: does not ask unless both standard input and standard error are a terminal", async () => {
  for (const terminals of [["output", "messages"], ["input", "output"]] as const) {
    const { code, host } = await runSession({
      model: [
        scriptedReply(scriptedCall("bash", { command: "echo 1 > x" })),
        scriptedReply("I could not."),
      ],
      terminals,
      input: "y\n",
    });
    assertEquals(code, 6, terminals.join());
    assert(!host.screen.includes("Allow?"));
    assertStringIncludes(host.requests[1]?.body ?? "", "this run is not interactive");
  }
});

Deno.test("swink run: the reason that ended a run precedes an output that is closed after it", async () => {
  await using directory = await createTemporaryDirectory({ "a.txt": "A" });
  const host = createFakeHost({
    model: [scriptedReply(scriptedCall("read_file", { path: "a.txt" }))],
  });
  host.onMessage((text) => {
    if (text.startsWith("1 turn")) host.closeOutput();
  });
  const args = ["run", "--no-session", "--max-turns", "1", "--cwd", directory.path, "Hello"];
  assertEquals([await main(args, host), host.messages.includes("1 turn")], [5, true]);
});

Deno.test("swink run: a key that is missing is no key that is rejected", async () => {
  await using directory = await createTemporaryDirectory();
  const host = createFakeHost({ env: { HOME: directory.path } });
  const args = ["run", "--no-session", "-m", "openai/gpt-6.2-sol", "--cwd", directory.path];
  assertEquals(await main([...args, "--allow-home", "Hello"], host), 3);
  assertEquals(host.messages.includes("Check that"), false);
});

Deno.test("swink run: a prompt that is too long for the model is reported with advice", async () => {
  const model = Array.from(
    { length: 2 },
    () =>
      createErrorResponse(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
  );
  const { code, host } = await runSession({ model });
  assertEquals(code, 1);
  assertStringIncludes(host.messages, "\nShorten the prompt and its files, or choose a model");
});

for (const option of ["--system-file", "--json-schema"]) {
  Deno.test(`exit code: 130 for an interrupt while ${option} waits for a pipe`, async () => {
    await using directory = await createTemporaryDirectory();
    const pipe = `${directory.path}/pipe`;
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    const host = createFakeHost();
    const running = main(["run", "--cwd", directory.path, option, pipe, "Hello"], host);
    // The program may not listen yet; signals of the same time count as one.
    const sending = setInterval(() => host.sendSignal("SIGINT"), 10);
    assertEquals([await running, host.output, host.requests.length], [130, "", 0], host.messages);
    clearInterval(sending);
    // Ends the operation of the system, too: the opened pipe is closed.
    using writer = await Deno.open(pipe, { write: true });
    await assertClosed(writer);
  });
}

/** Writes to a pipe until its reader has closed it. */
async function assertClosed(writer: Deno.FsFile): Promise<void> {
  await assertRejects(async () => {
    for (;;) await writer.write(new Uint8Array(1));
  }, Deno.errors.BrokenPipe);
}

Deno.test("exit code: 130 for an interrupt while an image is read from a pipe", async () => {
  await using directory = await createTemporaryDirectory();
  const pipe = `${directory.path}/pipe`;
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  const host = createFakeHost({ env: { ANTHROPIC_API_KEY: "k" } });
  const running = main(["run", "--cwd", directory.path, "--image", pipe, "Hello"], host);
  // Waits until the program has opened it.
  using writer = await Deno.open(pipe, { write: true });
  host.sendSignal("SIGINT");
  assertEquals([await running, host.messages, host.requests.length], [130, "", 0]);
  await assertClosed(writer); // the operation of the system may end after the program
});
