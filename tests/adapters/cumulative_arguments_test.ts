import { assertEquals } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { type CollectedReply, readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { createMinimalRequest } from "./wire_tests.ts";

const READ_FILE = { name: "read_file", description: "", parameters: { type: "object" } } as const;

function read(events: readonly object[]): Promise<CollectedReply> {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const request = createMinimalRequest("acme", "m");
  const streamFn = createOpenAI({ fetch: replayFetch(body), api: "chat" });
  return readReply(streamFn({ ...request, context: { ...request.context, tools: [READ_FILE] } }));
}

const summarizeCalls = ({ calls }: CollectedReply) =>
  calls.map(({ name, arguments: args }) => [name, args]);

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (fields: object) => chunk({ tool_calls: [fields] });

Deno.test("chat: arguments that a server sends again with each piece count once, in pieces of any length", async () => {
  const json = String.raw`{"path":{"path":"a\"{b","list":[{"path":1},{"path":2}]},"path2": 3}`;
  const readPieces = (lengths: readonly number[], fields: object, start = 0) => {
    const pieces = lengths.map((length) =>
      call({ ...fields, function: { name: "read_file", arguments: json.slice(start, length) } })
    );
    const first = call({ ...fields, id: "1", function: { name: "read_file" } });
    return read([first, ...pieces, chunk({}, "tool_calls")]);
  };
  const expected = [["read_file", JSON.parse(json)]];
  for (let size = 1; size < json.length; size++) {
    const lengths = Array.from(
      { length: Math.ceil(json.length / size) },
      (_, index) => Math.min(json.length, (index + 1) * size),
    );
    for (const fields of [{ index: 0 }, { index: 0, id: "1" }, {}]) {
      const reply = await readPieces([...lengths, json.length], fields);
      assertEquals(summarizeCalls(reply), expected, `pieces of ${size}`);
    }
  }
});

Deno.test("chat: arguments with values that begin like the arguments are complete, in pieces of any length", async () => {
  const json = '{"{":{"{":{"{":[{"{":[{"{":{}}]}]}}}';
  for (let size = 1; size <= json.length; size++) {
    const pieces = json.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    const events = pieces.map((args) => call({ index: 0, function: { arguments: args } }));
    const first = call({ index: 0, id: "1", function: { name: "read_file" } });
    const reply = await read([first, ...events, chunk({}, "tool_calls")]);
    assertEquals(summarizeCalls(reply), [["read_file", JSON.parse(json)]], `pieces of ${size}`);
  }
});
