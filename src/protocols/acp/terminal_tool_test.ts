import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { extractText } from "../../core/messages/content.ts";
import type { AgentToolResult } from "../../core/messages/tool_result.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import type { AcpTerminal, AcpTerminalExit, AcpTerminalOptions } from "./acp_terminal.ts";
import { terminalTool, type TerminalToolOptions } from "./terminal_tool.ts";

interface FakeTerminal {
  readonly created: AcpTerminalOptions[];
  readonly ended: string[];
  /** Ends the command. */
  readonly exit: (exit: AcpTerminalExit) => void;
}

/** Runs the tool with a terminal that a test controls. */
async function run(
  use: (terminal: FakeTerminal, abort: () => void) => void,
  { truncated = false, output = "line\n", ...options }: Partial<TerminalToolOptions> & {
    readonly truncated?: boolean;
    readonly output?: string;
  } = {},
) {
  const exited = Promise.withResolvers<AcpTerminalExit>();
  const terminal: FakeTerminal = { created: [], ended: [], exit: exited.resolve };
  const abort = new AbortController();
  const updates: unknown[] = [];
  const tool = terminalTool({
    cwd: "/work",
    sleep: (_milliseconds, signal) =>
      new Promise((resolve) => signal?.addEventListener("abort", () => resolve())),
    createTerminal(created): Promise<AcpTerminal> {
      terminal.created.push(created);
      return Promise.resolve({
        id: "t1",
        output: () => Promise.resolve({ output, truncated }),
        waitForExit: () => exited.promise,
        kill: () => Promise.resolve(void terminal.ended.push("kill")),
        [Symbol.asyncDispose]: () => Promise.resolve(void terminal.ended.push("release")),
      });
    },
    ...options,
  });
  const context = testToolContext({
    signal: abort.signal,
    onUpdate: (update) => {
      updates.push(update);
      use(terminal, () => abort.abort());
    },
  });
  const result = await tool.execute({ command: "make" }, context) as AgentToolResult;
  return { text: extractText(result.content), result, updates, terminal };
}

Deno.test("terminalTool(): returns exit code and output, and shows the terminal meanwhile", async () => {
  const { text, result, updates, terminal } = await run(({ exit }) => exit({ exitCode: 2 }));
  assertEquals(text, "Exit code: 2\nline");
  assertEquals([result.isError, result.details], [undefined, { terminalId: "t1" }]);
  assertEquals(updates, [{ content: [], details: { terminalId: "t1" } }]);
  assertEquals(terminal.created, [
    { command: "bash", args: ["-c", "make"], cwd: "/work", env: undefined },
  ]);
  assertEquals(terminal.ended, ["release"]);
});

Deno.test("terminalTool(): a signal and missing output are reported", async () => {
  const { text } = await run(({ exit }) => exit({ exitCode: null, signal: "SIGKILL" }), {
    truncated: true,
  });
  assertEquals(
    text,
    "Exit code: none (ended by SIGKILL)\n[The beginning of the output is missing]\nline",
  );
});

Deno.test("terminalTool(): a command that takes too long is ended", async () => {
  const { text, result, terminal } = await run(() => {}, { sleep: () => Promise.resolve() });
  assertStringIncludes(text, "Exit code: 124 (timed out after 120000 ms");
  assertEquals([result.isError, terminal.ended], [true, ["kill", "release"]]);
});

Deno.test("terminalTool(): a call that is cancelled ends its command", async () => {
  const { text, result, terminal } = await run((_terminal, abort) => abort());
  assertStringIncludes(text, "cancelled");
  assertEquals([result.isError, terminal.ended], [true, ["kill", "release"]]);
});

Deno.test("terminalTool(): a terminal that fails is an error for the model", async () => {
  const { text, result } = await run(() => {}, {
    createTerminal: () => Promise.reject(new Error("no terminals")),
  });
  assertEquals([text, result.isError], ["The terminal failed: no terminals", true]);
});

Deno.test("terminalTool(): the model gets the beginning and the end of a long output", async () => {
  const output = `first\n${"line\n".repeat(200_000)}last\n`;
  const { text } = await run(({ exit }) => exit({ exitCode: 0 }), { output });
  assert(text.length < 41_000, `${text.length}`);
  assertStringIncludes(text, "first\n");
  assertStringIncludes(text, "characters omitted");
  assert(text.endsWith("last"));
});

Deno.test("terminalTool(): a client that answers neither kill, nor output, nor release does not hold the run", async () => {
  const never = new Promise<never>(() => {});
  const { text, result } = await run(() => {}, {
    sleep: () => Promise.resolve(),
    createTerminal: () =>
      Promise.resolve({
        id: "t1",
        output: () => never,
        waitForExit: () => never,
        kill: () => never,
        [Symbol.asyncDispose]: () => never,
      }),
  });
  assertEquals([text, result.isError], ["The terminal failed: The client did not answer", true]);
});

Deno.test("terminalTool(): a client that does not start the terminal does not hold the run, and one that it starts later is removed", async () => {
  const started = Promise.withResolvers<AcpTerminal>();
  const released = Promise.withResolvers<void>();
  const { text, result } = await run(() => {}, {
    sleep: () => Promise.resolve(),
    createTerminal: () => started.promise,
  });
  assertEquals([text, result.isError], ["The terminal failed: The client did not answer", true]);
  started.resolve({
    id: "t1",
    output: () => Promise.resolve({ output: "", truncated: false }),
    waitForExit: () => Promise.resolve({}),
    kill: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(released.resolve()),
  });
  await released.promise;
});
