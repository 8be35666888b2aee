import { assertEquals } from "@std/assert";
import { choosePackages } from "../../scripts/packages.ts";
import { replayCassette } from "../../src/cassettes/mod.ts";
import { createTemporaryDirectory } from "../cli/temporary_directory.ts";
import { createDeadline } from "../deadline.ts";

Deno.test("recordFetch() keeps the complete exchanges when the process is killed", async () => {
  await using directory = await createTemporaryDirectory();
  const file = `${directory.path}/run.jsonl`;
  await killWhenReady(file);
  const fetch = replayCassette(file);
  const texts = [1, 2].map(async (number) =>
    await (await fetch(`https://api.example.com/${number}`)).text()
  );
  assertEquals(await Promise.all(texts), ["one", "two"]);
  fetch.assertDone();
});

async function killWhenReady(file: string): Promise<void> {
  const { config } = await choosePackages();
  const script = new URL("recording_child.ts", import.meta.url).href;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-c", config, "--no-check", "--allow-read", "--allow-write", script, file],
    stdin: "null",
    stdout: "piped",
    signal: createDeadline(),
  }).spawn();
  const [first] = await Array.fromAsync(readFirstChunk(child.stdout));
  child.kill("SIGKILL");
  await child.status;
  assertEquals(new TextDecoder().decode(first), "ready\n");
}

async function* readFirstChunk(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) return yield chunk;
}
