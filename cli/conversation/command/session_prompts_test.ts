import { assertEquals, assertNotEquals } from "@std/assert";
import type { UserMessage } from "../../../mod.ts";
import { InMemorySessionStore } from "../../../src/memory/mod.ts";
import { listPrompts, listTree } from "./session_prompts.ts";

function createPrompt(text: string): UserMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp: 0 };
}

Deno.test("listTree() lists the prompts of a session that is as long as the stack is deep", async () => {
  const session = await new InMemorySessionStore().create({ cwd: "/p" });
  const count = 20_000;
  for (let number = 0; number < count; number++) {
    session.append({ type: "message", message: createPrompt(`${number}`) });
  }
  const nodes = await listTree(session);
  assertEquals(nodes.map(({ text }) => text), Array.from({ length: count }, (_, i) => `${i}`));
  assertEquals(nodes.every(({ depth, isCurrent }) => depth === 0 && isCurrent), true);
});

Deno.test("listPrompts() has the time at which the agent read a text that had waited", async () => {
  const session = await new InMemorySessionStore().create({ cwd: "/p" });
  session.append({ type: "message", message: createPrompt("queued before the last command") });
  const [prompt] = await listPrompts(session);
  assertEquals(prompt?.timestamp, session.outline[0]?.timestamp);
  assertNotEquals(prompt?.timestamp, 0);
});

Deno.test("listTree() lists each branch before the next one, and indents branches", async () => {
  const session = await new InMemorySessionStore().create({ cwd: "/p" });
  const append = (text: string) => {
    session.append({ type: "message", message: createPrompt(text) });
    return session.leafId;
  };
  const first = append("first");
  append("left");
  append("left end");
  session.moveLeaf(first);
  append("right");
  const nodes = await listTree(session);
  assertEquals(
    nodes.map(({ text, depth, isCurrent }) => [text, depth, isCurrent]),
    [
      ["first", 0, true],
      ["left", 1, false],
      ["left end", 1, false],
      ["right", 1, true],
    ],
  );
});
