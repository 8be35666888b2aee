import { assertEquals } from "@std/assert";
import { replayCassette } from "../../src/testing/mod.ts";
import { choosePackages } from "../../scripts/packages.ts";
import { createTemporaryDirectory } from "../cli/temporary_directory.ts";

Deno.test("a program that is killed while it records loses no exchange that was over", async () => {
  await using folder = await createTemporaryDirectory();
  const file = `${folder.path}/run.jsonl`;
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
  }).spawn();
  const [first] = await Array.fromAsync(readFirstChunk(child.stdout));
  child.kill("SIGKILL");
  await child.status;
  assertEquals(new TextDecoder().decode(first), "ready\n");
}

async function* readFirstChunk(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) return yield chunk;
}
