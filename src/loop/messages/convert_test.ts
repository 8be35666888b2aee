import { assertEquals, assertThrows } from "@std/assert";
import { omitCustomMessages } from "../../core/context/context.ts";
import { StreamError } from "../../core/errors/errors.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import { HistoryConverter, MessageConverter } from "./convert.ts";

const a = userMessage("a", 0);
const b = userMessage("b", 0);
const note: AgentMessage = { role: "custom", type: "note", data: 1, timestamp: 0 };
const picture: AgentMessage = {
  role: "user",
  content: [{ type: "image", source: { type: "file", path: "a.png" } }],
  timestamp: 0,
};

/** Creates a converter that records the messages it converts. */
function createRecordingConverter(): {
  convert: typeof omitCustomMessages;
  converted: AgentMessage[];
} {
  const converted: AgentMessage[] = [];
  return {
    converted,
    convert: (message) => {
      converted.push(message);
      return omitCustomMessages(message);
    },
  };
}

Deno.test("HistoryConverter: converts each message of a growing history once", () => {
  const { convert, converted } = createRecordingConverter();
  const history = new HistoryConverter(convert);
  const first = history.convert([a, note]);
  assertEquals(first, { messages: [a], hasFiles: false });
  assertEquals(history.convert([a, note, b]), { messages: [a, b], hasFiles: false });
  assertEquals(converted, [a, note, b]);
  assertEquals(first.messages, [a], "an earlier result is not modified");
  assertEquals(history.convert([a, note, b, picture]).hasFiles, true);
});

Deno.test("MessageConverter: converts each message once, even if it is passed again", () => {
  const { convert, converted } = createRecordingConverter();
  const converter = new MessageConverter(convert);
  assertEquals(converter.convert([b, note, a]).messages, [b, a]);
  assertEquals(converter.convert([note, a, picture]), { messages: [a, picture], hasFiles: true });
  assertEquals(converted, [b, note, a, picture]);
});

Deno.test("HistoryConverter, MessageConverter: the error names convertToLlm when it throws", () => {
  const broken = () => {
    throw new Error("invalid data");
  };
  for (const converter of [new HistoryConverter(broken), new MessageConverter(broken)]) {
    assertThrows(() => converter.convert([a]), StreamError, "convertToLlm failed: invalid data");
  }
});

for (const Converter of [HistoryConverter, MessageConverter]) {
  Deno.test(`${Converter.name}: omits a message for which an untyped function returns undefined`, () => {
    const prompt = userMessage("Hi", 0);
    const converter = new Converter((message) => message === prompt ? prompt : undefined as never);
    assertEquals(converter.convert([userMessage("Note", 0), prompt]).messages, [prompt]);
  });
}
