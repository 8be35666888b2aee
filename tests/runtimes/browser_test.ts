import { assert, assertEquals } from "@std/assert";
import { root, runDeno } from "../project.ts";

/** Maximum gzipped size of a bundle of the agent and one adapter, without ajv. */
const MAX_BUNDLE_BYTES = 36 * 1024;

const entry = `
export * from ${JSON.stringify(new URL("mod.ts", root).href)};
export * from ${JSON.stringify(new URL("adapters/anthropic/mod.ts", root).href)};
`;

Deno.test("browser: a bundle of the agent and an adapter does not use Deno or node: and is at most 36 KB gzipped", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_bundle_" });
  try {
    const input = `${directory}/entry.ts`;
    const output = `${directory}/bundle.js`;
    await Deno.writeTextFile(input, entry);
    const { success, text } = await runDeno("bundle", [
      ...["--platform", "browser", "--minify", "--external", "ajv", "--output", output],
      input,
    ]);
    assert(success, text);

    const bundle = await Deno.readTextFile(output);
    assertEquals(bundle.match(/["']node:\w+|\bDeno\b/g), null);
    const bytes = await getGzippedSize(bundle);
    console.log(`${(bytes / 1024).toFixed(1)} KB gzipped, without ajv`);
    assert(bytes <= MAX_BUNDLE_BYTES, `${bytes} bytes; the limit is ${MAX_BUNDLE_BYTES}`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

async function getGzippedSize(text: string): Promise<number> {
  const compressed = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(compressed).bytes()).length;
}
