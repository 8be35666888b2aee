/**
 * `swink acp` as a process, which an editor starts, leaves and kills.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { scriptedCall, scriptedReply } from "./fake_host.ts";
import { type MockAnswer, startMockProvider } from "./mock_provider.ts";
import { startSwink, type SwinkProcess } from "./swink_process.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

/** An editor that writes lines. */
class LineEditor {
  readonly process: SwinkProcess;

  constructor(home: TemporaryDirectory, url: string, args: readonly string[] = []) {
    this.process = startSwink(["acp", ...args], {
      stdin: "piped",
      env: {
        HOME: home.path,
        XDG_CONFIG_HOME: "",
        XDG_STATE_HOME: "",
        DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
        ANTHROPIC_API_KEY: "k",
        ANTHROPIC_BASE_URL: url,
      },
    });
  }

  async send(id: number, method: string, params: object): Promise<void> {
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const writer = this.process.child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(`${line}\n`));
    writer.releaseLock();
  }

  /** Sends a request, and waits for its answer. */
  async ask(id: number, method: string, params: object): Promise<void> {
    await this.send(id, method, params);
    await this.process.waitForText(`"id":${id},"result"`);
  }

  /** Starts a prompt in a new session. */
  async prompt(cwd: string, protocolVersion = 1): Promise<void> {
    const info = { name: "test", version: "1" };
    await this.ask(1, "initialize", { protocolVersion, ...(protocolVersion > 1 && { info }) });
    await this.ask(2, "session/new", { cwd, mcpServers: [] });
    const id = /"sessionId":"([^"]+)"/.exec(this.process.output)?.[1] ?? "";
    await this.send(3, "session/prompt", {
      sessionId: id,
      prompt: [{ type: "text", text: "Go" }],
    });
  }

  /** Disappears. */
  async end(): Promise<void> {
    await this.process.child.stdin.close();
  }
}

/** Starts a prompt whose reply is `answer`, and waits for a text of the output. */
async function start(
  answer: MockAnswer,
  { until, args = [] }: { readonly until: string; readonly args?: readonly string[] },
) {
  const cleanup = new AsyncDisposableStack();
  const provider = cleanup.use(startMockProvider(answer));
  const home = cleanup.use(await createTemporaryDirectory({ "p/a.txt": "one\n" }));
  const cwd = await Deno.realPath(`${home.path}/p`);
  const editor = new LineEditor(home, provider.url, args);
  cleanup.use(editor.process);
  await editor.prompt(cwd);
  await editor.process.waitForText(until);
  return { editor, home, cwd, cleanup };
}

/** Checks that each line of standard output is a message of the protocol. */
function checkOutput(output: string): void {
  for (const line of output.split("\n").filter((line) => line !== "")) {
    assertEquals(JSON.parse(line).jsonrpc, "2.0");
  }
}

Deno.test("swink acp: ends when the editor disappears during a reply, and the session is saved", async () => {
  const { editor, home, cwd, cleanup } = await start({ hangsAfter: "I begin" }, {
    until: "begin",
  });
  await using _cleanup = cleanup;
  await editor.end();
  const { code, output } = await editor.process.waitForExit();
  assertEquals(code, 0);
  checkOutput(output);
  const next = new LineEditor(home, "http://127.0.0.1:9");
  await using _process = next.process;
  await next.ask(1, "initialize", { protocolVersion: 1 });
  await next.ask(2, "session/list", { cwd });
  assert(next.process.output.includes('"title":"Go"'), next.process.output);
});

Deno.test("swink acp: ends the command of a tool when the editor disappears", async () => {
  const command = "echo $$ > pid.txt; echo st''arted; exec sleep 1000";
  const { editor, home, cleanup } = await start(
    scriptedReply(scriptedCall("bash", { command })),
    { until: "started", args: ["--approve-all"] },
  );
  await using _cleanup = cleanup;
  await editor.end();
  assertEquals((await editor.process.waitForExit()).code, 0);
  const pid = Number(home.read("p/pid.txt"));
  const isRunning = await Deno.stat(`/proc/${pid}/cmdline`).then(
    async () => (await Deno.readTextFile(`/proc/${pid}/cmdline`)).includes("sleep"),
    () => false,
  );
  assert(!isRunning, `${pid}`);
});

Deno.test("swink acp: ends when the editor no longer reads, and by a signal", async () => {
  const ends = [
    [(process: SwinkProcess) => process.closeOutput(), 141],
    [(process: SwinkProcess) => process.kill("SIGTERM"), 143],
    [(process: SwinkProcess) => process.kill("SIGINT"), 130],
  ] as const;
  for (const [end, expected] of ends) {
    const { editor, cleanup } = await start({ hangsAfter: "I begin" }, { until: "begin" });
    await using _cleanup = cleanup;
    await end(editor.process);
    assertEquals((await editor.process.waitForExit()).code, expected);
  }
});

Deno.test("swink acp: a session whose process was killed is loaded by another one", async () => {
  const { editor, home, cwd, cleanup } = await start({ hangsAfter: "I begin" }, {
    until: "begin",
  });
  await using _cleanup = cleanup;
  const sessionId = /"sessionId":"([^"]+)"/.exec(editor.process.output)?.[1];
  editor.process.kill("SIGKILL");
  await editor.process.waitForExit();
  const next = new LineEditor(home, "http://127.0.0.1:9");
  await using _process = next.process;
  await next.ask(1, "initialize", { protocolVersion: 1 });
  await next.ask(2, "session/load", { sessionId, cwd, mcpServers: [] });
  assert(next.process.output.includes('"user_message_chunk"'), next.process.output);
});

Deno.test("swink acp: --draft-protocol serves version 2 of the protocol", async () => {
  const home = await createTemporaryDirectory({ "p/a.txt": "one\n" });
  await using cleanup = new AsyncDisposableStack();
  cleanup.use(home);
  const provider = cleanup.use(startMockProvider(scriptedReply("I am done.")));
  const editor = new LineEditor(home, provider.url, ["--draft-protocol"]);
  cleanup.use(editor.process);
  await editor.prompt(await Deno.realPath(`${home.path}/p`), 2);
  await editor.process.waitForText('"stopReason":"end_turn"');
  await editor.end();
  const { code, output } = await editor.process.waitForExit();
  assertEquals(code, 0);
  checkOutput(output);
  assert(output.includes('"protocolVersion":2'), output);
});
