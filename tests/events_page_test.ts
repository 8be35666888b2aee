import { assertEquals } from "@std/assert";
import { Agent } from "../mod.ts";
import {
  collectEvents,
  fakeTool,
  reply,
  type ReplyBlock,
  scriptedStream,
  text,
  thinking,
  toolCall,
} from "../src/testing/mod.ts";
import { root } from "./project.ts";

/** Returns the types in the table of deltas. */
async function listDocumentedTypes(): Promise<string[]> {
  const page = await Deno.readTextFile(new URL("docs/events.md", root));
  const [, section = ""] = page.split("\n## Deltas\n");
  const cells = section.matchAll(/^\|([^|]+)\|/gm);
  return Array.from(cells, ([, cell = ""]) => cell.match(/(?<=`)[a-z]+_[a-z_]+(?=`)/g) ?? [])
    .flat();
}

Deno.test("documentation: docs/events.md lists the deltas of a run, and no others", async () => {
  const blocks: ReplyBlock[] = [thinking("why"), text("so"), {
    type: "extension",
    typeName: "item",
    data: { id: 1 },
  }, toolCall("read")];
  const streamFn = scriptedStream([reply(blocks), reply("Done.")]);
  const agent = new Agent({ model: "any/model", tools: [fakeTool({ name: "read" })], streamFn });
  const events = await collectEvents(agent.promptStream("Read"));
  const types = events.flatMap((event) => event.type === "message_update" ? event.delta.type : []);
  assertEquals((await listDocumentedTypes()).toSorted(), [...new Set(types)].toSorted());
});
