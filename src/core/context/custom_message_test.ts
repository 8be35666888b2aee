import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../errors/errors.ts";
import { userMessage } from "../messages/message.ts";
import { omitCustomMessages } from "./context.ts";
import { defineCustomMessage } from "./custom_message.ts";

interface Note {
  readonly title: string;
  readonly urgent: boolean;
}

function readNote(data: unknown): Note {
  const { title, urgent } = data as Partial<Note>;
  if (typeof title !== "string") throw new TypeError("A note must have a title");
  return { title, urgent: urgent === true };
}

const note = defineCustomMessage({
  type: "note",
  decode: readNote,
  toLlm: ({ title }, { timestamp }) => userMessage(`Note: ${title}`, timestamp),
});
const silent = defineCustomMessage({ type: "silent", decode: Number });

Deno.test("defineCustomMessage(): create() and read() keep the data and its type [1.4]", () => {
  const message = note.create({ title: "milk", urgent: true }, 7);
  assertEquals(message, {
    role: "custom",
    type: "note",
    data: { title: "milk", urgent: true },
    timestamp: 7,
  });
  const data: Note | undefined = note.read(message);
  assertEquals(data, { title: "milk", urgent: true });
});

Deno.test("defineCustomMessage(): read() returns undefined for other messages [1.4]", () => {
  assertEquals(note.read(silent.create(3, 0)), undefined);
  assertEquals(note.read(userMessage("note", 0)), undefined);
});

Deno.test("defineCustomMessage(): read() decodes and validates data that was stored as JSON", () => {
  const stored = JSON.parse(JSON.stringify(note.create({ title: "milk", urgent: false }, 7)));
  assertEquals(note.read(stored), { title: "milk", urgent: false });
  assertThrows(() => note.read({ ...stored, data: 5 }), TypeError, "A note must have a title");
});

Deno.test("defineCustomMessage(): convert() applies toLlm, or omits the message without it", () => {
  const convert = note.convert(silent.convert(omitCustomMessages));
  assertEquals(
    convert(note.create({ title: "milk", urgent: false }, 7)),
    userMessage("Note: milk", 7),
  );
  assertEquals(convert(silent.create(3, 0)), null);
});

Deno.test("defineCustomMessage(): toLlm gets the data that decode returns, which throws for invalid data", () => {
  const dated = defineCustomMessage({
    type: "dated",
    decode: (data) => new Date(Number(data)),
    toLlm: (date, { timestamp }) => userMessage(date.toISOString(), timestamp),
  });
  const convert = dated.convert(note.convert(omitCustomMessages));
  assertEquals(
    convert({ role: "custom", type: "dated", data: 0, timestamp: 7 }),
    userMessage("1970-01-01T00:00:00.000Z", 7),
  );
  const invalid = { role: "custom", type: "note", data: {}, timestamp: 0 } as const;
  assertThrows(() => convert(invalid), TypeError, "A note must have a title");
});

Deno.test("defineCustomMessage(): convert() passes other messages to the next converter", () => {
  const user = userMessage("Hi", 0);
  const convert = note.convert(omitCustomMessages);
  assertEquals(convert(user), user);
  assertEquals(convert({ role: "custom", type: "unknown", data: null, timestamp: 0 }), null);
});

Deno.test("defineCustomMessage(): throws without a type or without a function decode", () => {
  const decode = (data: unknown) => data;
  for (const definition of [undefined, {}, { decode }, { type: 5, decode }, { type: "note" }]) {
    assertThrows(
      () => defineCustomMessage(definition as never),
      BadRequestError,
      "A custom message must have a type and a function decode",
    );
  }
});
