import { assertEquals, assertLess } from "@std/assert";
import fc from "fast-check";
import { type AgentMessage, userMessage } from "../core/messages/message.ts";
import { putMessage } from "./message_list.ts";

/** Does what `putMessage()` does, without knowledge of earlier lists. */
function search(messages: readonly AgentMessage[], message: AgentMessage): AgentMessage[] {
  const index = messages.findLastIndex(({ id }) => id !== undefined && id === message.id);
  return index < 0 ? [...messages, message] : messages.with(index, message);
}

Deno.test("putMessage() agrees with a search, from any earlier list", () => {
  const steps = fc.record({
    from: fc.nat(),
    id: fc.option(fc.constantFrom("a", "b", "c", "d"), { nil: undefined }),
    isCopied: fc.boolean(),
  });
  fc.assert(fc.property(fc.array(steps, { maxLength: 40 }), (all) => {
    const lists: (readonly AgentMessage[])[] = [[]];
    for (const [index, { from, id, isCopied }] of all.entries()) {
      const list = lists[from % lists.length] ?? [];
      const messages = isCopied ? [...list] : list;
      const before = [...messages];
      const message = { ...userMessage(`${index}`), ...(id !== undefined && { id }) };
      const next = putMessage(messages, message);
      assertEquals(next, search(messages, message));
      assertEquals(messages, before);
      lists.push(next);
    }
  }));
});

Deno.test("putMessage() does not search a long list for each message", () => {
  let reads = 0;
  let messages: readonly AgentMessage[] = [];
  for (let index = 0; index < 1_000; index++) {
    const message = {
      ...userMessage("Hi"),
      get id() {
        reads++;
        return `${index}`;
      },
    };
    putMessage(messages, message); // React calls a reducer twice.
    messages = putMessage(messages, message);
  }
  assertEquals(messages.length, 1_000);
  assertLess(reads, 10_000);
});
