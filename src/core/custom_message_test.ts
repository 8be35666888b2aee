import { assertEquals, assertThrows } from "@std/assert";
import { omitCustomMessages } from "./context.ts";
import { defineCustomMessage } from "./custom_message.ts";
import { userMessage } from "./message.ts";

interface Note {
  readonly title: string;
  readonly urgent: boolean;
}

function readNote(data: unknown): Note {
  const { title, urgent } = data as Partial<Note>;
  if (typeof title !== "string") throw new TypeError("A note needs a title");
  return { title, urgent: urgent === true };
}

const note = defineCustomMessage({
  type: "note",
  decode: readNote,
  toLlm: ({ title }, { timestamp }) => userMessage(`Note: ${title}`, timestamp),
});
const silent = defineCustomMessage({ type: "silent", decode: Number });

Deno.test("1.4 a custom message carries data that is read back with its type", () => {
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

Deno.test("1.4 a message of another kind reads as undefined", () => {
  assertEquals(note.read(silent.create(3, 0)), undefined);
  assertEquals(note.read(userMessage("note", 0)), undefined);
});

Deno.test("a custom message that was stored as JSON is decoded when it is read", () => {
  const stored = JSON.parse(JSON.stringify(note.create({ title: "milk", urgent: false }, 7)));
  assertEquals(note.read(stored), { title: "milk", urgent: false });
  assertThrows(() => note.read({ ...stored, data: 5 }), TypeError, "A note needs a title");
});

Deno.test("the model is told what toLlm says, or nothing", () => {
  const convert = note.convert(silent.convert(omitCustomMessages));
  assertEquals(
    convert(note.create({ title: "milk", urgent: false }, 7)),
    userMessage("Note: milk", 7),
  );
  assertEquals(convert(silent.create(3, 0)), null);
});

Deno.test("what a kind does not know it leaves to the next", () => {
  const user = userMessage("Hi", 0);
  const convert = note.convert(omitCustomMessages);
  assertEquals(convert(user), user);
  assertEquals(convert({ role: "custom", type: "stranger", data: null, timestamp: 0 }), null);
});
