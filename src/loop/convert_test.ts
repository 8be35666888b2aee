import { assertEquals, assertThrows } from "@std/assert";
import { omitCustomMessages } from "../core/context.ts";
import { StreamError } from "../core/errors.ts";
import { type AgentMessage, userMessage } from "../core/message.ts";
import { HistoryConverter, MessageConverter } from "./convert.ts";

const a = userMessage("a", 0);
const b = userMessage("b", 0);
const note: AgentMessage = { role: "custom", type: "note", data: 1, timestamp: 0 };
const picture: AgentMessage = {
  role: "user",
  content: [{ type: "image", source: { type: "file", path: "a.png" } }],
  timestamp: 0,
};

function counting(): { convert: typeof omitCustomMessages; converted: AgentMessage[] } {
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
  const { convert, converted } = counting();
  const history = new HistoryConverter(convert);
  const first = history.convert([a, note]);
  assertEquals(first, { messages: [a], hasFiles: false });
  assertEquals(history.convert([a, note, b]), { messages: [a, b], hasFiles: false });
  assertEquals(converted, [a, note, b]);
  assertEquals(first.messages, [a], "what was given before is not changed");
  assertEquals(history.convert([a, note, b, picture]).hasFiles, true);
});

Deno.test("MessageConverter: converts each message once, however often it is selected", () => {
  const { convert, converted } = counting();
  const converter = new MessageConverter(convert);
  assertEquals(converter.convert([b, note, a]).messages, [b, a]);
  assertEquals(converter.convert([note, a, picture]), { messages: [a, picture], hasFiles: true });
  assertEquals(converted, [b, note, a, picture]);
});

Deno.test("convertToLlm: an error it throws names the hook", () => {
  const broken = () => {
    throw new Error("no ink");
  };
  for (const converter of [new HistoryConverter(broken), new MessageConverter(broken)]) {
    assertThrows(() => converter.convert([a]), StreamError, "convertToLlm failed: no ink");
  }
});
