import { assertEquals, assertRejects } from "@std/assert";
import { UsageError } from "./cli_error.ts";
import { readPrompt } from "./prompt_input.ts";
import type { Input } from "./terminal.ts";

/** Reads a prompt; gives it, and what was said meanwhile. */
async function readTestPrompt(
  words: readonly string[],
  input: Partial<Input>,
  signal = NEVER_ABORTED,
) {
  let said = "";
  const write = (text: string | Uint8Array): Promise<void> => {
    said += text;
    return Promise.resolve();
  };
  const messages = { isTerminal: false, closed: NEVER_ABORTED, write };
  const terminal = { input: { isTerminal: false, bytes: createByteStream(), ...input }, messages };
  return { prompt: await readPrompt(words, { terminal, signal, firstByteMs: 5 }), said };
}

const NEVER_ABORTED = new AbortController().signal;

function createByteStream(...texts: string[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(texts.map((text) => new TextEncoder().encode(text)));
}

Deno.test("the words are the prompt", async () => {
  assertEquals(await readTestPrompt(["mend", "it"], {}), { prompt: "mend it", said: "" });
});

Deno.test("a terminal is not read beside a prompt, and not asked for one", async () => {
  const terminal = { isTerminal: true, bytes: createByteStream("typed") };
  assertEquals((await readTestPrompt(["mend", "it"], terminal)).prompt, "mend it");
  await assertRejects(() => readTestPrompt([], terminal), UsageError, "There is no prompt");
});

Deno.test("- reads a terminal, and says how to end it", async () => {
  const { prompt, said } = await readTestPrompt(["-"], {
    isTerminal: true,
    bytes: createByteStream("typed\n"),
  });
  assertEquals(prompt, "typed\n");
  assertEquals(said, "swink: reading standard input; Ctrl+D ends it\n");
});

Deno.test("beside a prompt, input that is held open is left, and that is told", async () => {
  const { prompt, said } = await readTestPrompt(["mend", "it"], { bytes: new ReadableStream() });
  assertEquals(prompt, "mend it");
  assertEquals(
    said,
    "swink: standard input is open but nothing comes from it; going on without it (- waits for it)\n",
  );
});

Deno.test("input that has begun is read to its end, characters that were cut included", async () => {
  const [first, second] = [new Uint8Array([0xe2, 0x82]), new Uint8Array([0xac, 0x0a])];
  const { prompt } = await readTestPrompt(["sum up"], {
    bytes: ReadableStream.from([first, second]),
  });
  assertEquals(prompt, "sum up\n\n<stdin>\n€\n</stdin>");
});

Deno.test("input that fails is told in words", async () => {
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.error(new Error("Is a directory")),
  });
  await assertRejects(() => readTestPrompt([], { bytes: broken }), UsageError, "Is a directory");
});

Deno.test("an interrupt ends the waiting, without a complaint", async () => {
  const interrupt = new AbortController();
  const input = new ReadableStream<Uint8Array>({ pull: () => interrupt.abort() });
  assertEquals((await readTestPrompt(["-"], { bytes: input }, interrupt.signal)).prompt, "");
});
