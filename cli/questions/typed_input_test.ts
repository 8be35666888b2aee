import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { getTypedInput, TypedInput } from "./typed_input.ts";

const NEVER_ABORTED = new AbortController().signal;

/** Creates an input and a function that types. */
function createInput() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const bytes = new ReadableStream<Uint8Array>({ start: (started) => void (controller = started) });
  return {
    input: new TypedInput({ bytes }),
    type: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
  };
}

async function readText(input: TypedInput, signal = NEVER_ABORTED): Promise<string | undefined> {
  const chunk = await input.readChunk(signal);
  return chunk && new TextDecoder().decode(chunk);
}

Deno.test("readChunk(): returns what is typed, and undefined at the end of the input", async () => {
  const { input, type, end } = createInput();
  const reading = readText(input);
  type("yes");
  assertEquals(await reading, "yes");
  end();
  assertEquals([await readText(input), await readText(input)], [undefined, undefined]);
});

Deno.test("readChunk(): returns undefined when the signal is aborted, and loses no input", async () => {
  const { input, type } = createInput();
  const interrupt = new AbortController();
  const reading = readText(input, interrupt.signal);
  interrupt.abort();
  assertEquals([await reading, await readText(input, interrupt.signal)], [undefined, undefined]);
  type("later");
  assertEquals(await readText(input), "later");
});

Deno.test("discardEarlier(): discards input until none arrives for 200 ms", async () => {
  using time = new FakeTime();
  const { input, type } = createInput();
  type("early");
  let isDone = false;
  const discarding = input.discardEarlier(NEVER_ABORTED).then(() => isDone = true);
  for (let key = 0; key < 5; key++) {
    await time.tickAsync(199);
    assertEquals(isDone, false);
    type("y");
  }
  await time.tickAsync();
  await time.tickAsync(200);
  await discarding;
  type("answer");
  assertEquals(await readText(input), "answer");
});

Deno.test("discardEarlier(): stops at the end of the input and when the signal is aborted", async () => {
  const ended = createInput();
  ended.type("early");
  ended.end();
  await ended.input.discardEarlier(NEVER_ABORTED);
  assertEquals(await readText(ended.input), undefined);
  await createInput().input.discardEarlier(AbortSignal.abort());
});

Deno.test("readChunk(): a failure is the end of the input, also after the signal is aborted", async () => {
  const bytes = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error("Input/output error")),
  });
  const input = new TypedInput({ bytes });
  assertEquals(await input.readChunk(AbortSignal.abort()), undefined);
  assertEquals([await readText(input), await readText(input)], [undefined, undefined]);
});

Deno.test("runExclusively(): asks one question after the other, each after the listeners", async () => {
  const { input } = createInput();
  const order: string[] = [];
  const stop = input.onAsk(() => Promise.resolve(void order.push("listener")));
  const first = Promise.withResolvers<string>();
  const ask = (name: string, getAnswer: () => Promise<string>) =>
    input.runExclusively(() => {
      order.push(name);
      return getAnswer();
    });
  assertEquals(input.isAsking, false);
  const answers = [
    ask("one", () => first.promise),
    ask("two", () => Promise.reject(new Error("closed"))),
  ];
  assertEquals(input.isAsking, true);
  const answered = input.untilAnswered().then(() => order.push("answered"));
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(order, ["listener", "one"]);
  first.resolve("yes");
  assertEquals(
    (await Promise.allSettled(answers)).map(({ status }) => status),
    ["fulfilled", "rejected"],
  );
  await answered;
  assertEquals([input.isAsking, order], [
    false,
    ["listener", "one", "listener", "two", "answered"],
  ]);
  stop();
  assertEquals(await ask("three", () => Promise.resolve("3")), "3");
  assertEquals(order.slice(5), ["three"]);
});

Deno.test("getTypedInput(): is the same for all questions of a keyboard", () => {
  const keyboard = { bytes: new ReadableStream<Uint8Array>() };
  assertEquals(getTypedInput(keyboard), getTypedInput(keyboard));
});
