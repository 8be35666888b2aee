import { assertEquals, assertRejects } from "@std/assert";
import { BadRequestError } from "../../../mod.ts";
import { openConnection } from "./model_connection.ts";

const send = (fetch: typeof globalThis.fetch, ...messages: string[]) =>
  fetch("https://api.example.com/chat", { method: "POST", body: JSON.stringify({ messages }) });

Deno.test("openConnection: durations count in a replay of several prompts, and not in the results of one", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_connection_" });
  try {
    const cassette = `${directory}/run.jsonl`;
    const host = { fetch: () => Promise.resolve(new Response("Done")), now: () => 0 };
    {
      await using recording = await openConnection({ record: cassette }, host);
      await (await send(recording.fetch, "Go")).text();
      await (await send(recording.fetch, "Go", "Done", "Wait 10 seconds")).text();
    }
    const replay = async (hasOnePrompt: boolean) => {
      const options = { replay: cassette, hasOnePrompt };
      await using connection = await openConnection(options, host);
      await send(connection.fetch, "Go");
      return await (await send(connection.fetch, "Go", "Done", "Wait 20 seconds")).text();
    };
    await assertRejects(() => replay(false), BadRequestError, "Wait 20 seconds");
    assertEquals(await replay(true), "Done");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
