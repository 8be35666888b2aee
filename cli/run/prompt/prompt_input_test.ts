import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { UsageError } from "../../host/cli_error.ts";
import type { Input } from "../../host/terminal.ts";
import { readPrompt } from "./prompt_input.ts";

/** Reads a prompt. Returns it with the text written to standard error. */
async function readTestPrompt(
  words: readonly string[],
  { firstByteMs = 5, ...input }: Partial<Input> & { readonly firstByteMs?: number },
  signal = NEVER_ABORTED,
) {
  let notices = "";
  const write = (text: string | Uint8Array): Promise<void> => {
    notices += text;
    return Promise.resolve();
  };
  const messages = { isTerminal: false, closed: NEVER_ABORTED, write };
  const terminal = {
    input: {
      isTerminal: false,
      bytes: createByteStream(),
      setRaw() {},
      pause() {},
      resume() {},
      ...input,
    },
    messages,
  };
  return { prompt: await readPrompt(words, { terminal, signal, firstByteMs }), notices };
}

const NEVER_ABORTED = new AbortController().signal;

function createByteStream(...texts: string[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(texts.map((text) => new TextEncoder().encode(text)));
}

Deno.test("readPrompt(): joins the arguments", async () => {
  assertEquals(await readTestPrompt(["fix", "it"], {}), { prompt: "fix it", notices: "" });
});

Deno.test("readPrompt(): does not read a terminal without -", async () => {
  const terminal = { isTerminal: true, bytes: createByteStream("typed") };
  assertEquals((await readTestPrompt(["fix", "it"], terminal)).prompt, "fix it");
  await assertRejects(() => readTestPrompt([], terminal), UsageError, "The prompt is missing");
});

Deno.test("readPrompt(): - reads a terminal and shows how to end the input", async () => {
  const { prompt, notices } = await readTestPrompt(["-"], {
    isTerminal: true,
    bytes: createByteStream("typed\n"),
  });
  assertEquals(prompt, "typed\n");
  assertEquals(notices, "swink: reading standard input; end it with Ctrl+D\n");
});

Deno.test("readPrompt(): continues without input that is open and empty, and reports it", async () => {
  const { prompt, notices } = await readTestPrompt(["fix", "it"], { bytes: new ReadableStream() });
  assertEquals(prompt, "fix it");
  assertEquals(
    notices,
    "swink: waiting for standard input (redirect it from /dev/null if there is none)\n" +
      "swink: no data on standard input; continuing without it (the argument - waits for it)\n",
  );
});

Deno.test("readPrompt(): does not open input that is known to be empty", async () => {
  const input = {
    isTerminal: false,
    isEmpty: true,
    setRaw() {},
    pause() {},
    resume() {},
    get bytes(): ReadableStream<Uint8Array> {
      throw new Error("opened");
    },
  };
  const messages = { isTerminal: false, closed: NEVER_ABORTED, write: () => Promise.resolve() };
  for (const words of [["Fix", "it"], ["Fix", "it", "-"]]) {
    const terminal = { input, messages };
    assertEquals(await readPrompt(words, { terminal, signal: NEVER_ABORTED }), "Fix it");
  }
});

Deno.test("readPrompt(): reads input to its end, with characters split between chunks", async () => {
  const [first, second] = [new Uint8Array([0xe2, 0x82]), new Uint8Array([0xac, 0x0a])];
  const { prompt } = await readTestPrompt(["sum up"], {
    bytes: ReadableStream.from([first, second]),
  });
  assertEquals(prompt, "sum up\n\n<stdin>\n€\n</stdin>");
});

Deno.test("readPrompt(): rejects input that is not text", async () => {
  for (const bytes of [[0x89, 0x50, 0x4e, 0x47], [0x61, 0x00, 0x62]]) {
    const input = ReadableStream.from([new Uint8Array(bytes)]);
    await assertRejects(
      () => readTestPrompt(["sum up"], { bytes: input }),
      UsageError,
      "Standard input is not text in UTF-8",
    );
  }
});

Deno.test("readPrompt(): reports why input cannot be read", async () => {
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.error(new Error("Is a directory")),
  });
  await assertRejects(() => readTestPrompt([], { bytes: broken }), UsageError, "Is a directory");
});

Deno.test("readPrompt(): an interrupt ends reading without an error", async () => {
  const interrupt = new AbortController();
  const input = new ReadableStream<Uint8Array>({ pull: () => interrupt.abort() });
  assertEquals((await readTestPrompt(["-"], { bytes: input }, interrupt.signal)).prompt, "");
});

Deno.test("readPrompt(): adds input that starts after the notice and before the timeout", async () => {
  using time = new FakeTime();
  const late = Promise.withResolvers<void>();
  const bytes = new ReadableStream<Uint8Array>({
    async start(controller) {
      await late.promise;
      controller.enqueue(new TextEncoder().encode("late"));
      controller.close();
    },
  });
  const reading = readTestPrompt(["fix"], { bytes, firstByteMs: 3_000 });
  await time.tickAsync(200);
  await time.tickAsync(2_700);
  late.resolve();
  assertEquals((await reading).prompt, "fix\n\n<stdin>\nlate\n</stdin>");
});
