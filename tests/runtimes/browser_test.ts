import { assert, assertEquals } from "@std/assert";
import { root, runDeno } from "../project.ts";

/** What the agent and one adapter, whole and without ajv, may weigh in a browser, gzipped. */
const MAX_BUNDLE_BYTES = 36 * 1024;

const entry = `
export * from ${JSON.stringify(new URL("mod.ts", root).href)};
export * from ${JSON.stringify(new URL("adapters/anthropic/mod.ts", root).href)};
`;

Deno.test("a bundle of the agent and an adapter names neither Deno nor node:, and is small", async () => {
  const folder = await Deno.makeTempDir({ prefix: "swink_bundle_" });
  try {
    const input = `${folder}/entry.ts`;
    const output = `${folder}/bundle.js`;
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
    assert(bytes <= MAX_BUNDLE_BYTES, `${bytes} bytes; ${MAX_BUNDLE_BYTES} are the limit`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

async function getGzippedSize(text: string): Promise<number> {
  const zipped = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(zipped).bytes()).length;
}
