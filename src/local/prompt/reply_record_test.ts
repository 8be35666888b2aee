import { assertEquals } from "@std/assert";
import { ReplyRecord } from "./reply_record.ts";

function reply(text: string) {
  return [{ type: "text", text }] as const;
}

Deno.test("ReplyRecord: finds the text of a reply by its content, without the ids of calls", () => {
  const record = new ReplyRecord();
  const call = { type: "tool_call", name: "f", arguments: { a: 1 } } as const;
  const thinking = { type: "thinking", thinking: "Hm" } as const;
  record.add([thinking, { ...call, id: "1" }], "RAW");
  assertEquals(record.find([thinking, { ...call, id: "2" }]), "RAW");
  assertEquals(record.find([{ ...call, id: "1" }]), undefined);
  assertEquals(record.find([thinking, { ...call, id: "1", name: "g" }]), undefined);
  assertEquals(record.find(reply("Hm")), undefined);
});

Deno.test("ReplyRecord: forgets the oldest replies, of which an equal one is new again", () => {
  const record = new ReplyRecord();
  for (let index = 0; index < 256; index++) record.add(reply(`${index}`), `raw ${index}`);
  record.add(reply("0"), "again");
  record.add(reply("new"), "raw");
  assertEquals(record.find(reply("0")), "again");
  assertEquals(record.find(reply("1")), undefined);
  assertEquals(record.find(reply("2")), "raw 2");
});

Deno.test("ReplyRecord: keeps a limited number of characters", () => {
  const record = new ReplyRecord();
  const long = "x".repeat(3_000_000);
  // An equal reply replaces the first one and takes no more characters.
  for (let round = 0; round < 5; round++) record.add(reply("a"), long);
  record.add(reply("b"), long);
  assertEquals(record.find(reply("a")), long);
  record.add(reply("c"), long);
  assertEquals([record.find(reply("a")), record.find(reply("b"))], [undefined, long]);
});
