import { assert, assertEquals } from "@std/assert";
import { root, runDeno } from "../project.ts";

/** Maximum gzipped size of the agent and one adapter, without ajv and without what is loaded when it is needed. */
const MAX_INITIAL_BYTES = 25 * 1024;

/** Maximum gzipped size of all chunks: also those of the adapter that its first request loads. */
const MAX_TOTAL_BYTES = 39 * 1024;

const entry = `
export * from ${JSON.stringify(new URL("mod.ts", root).href)};
export * from ${JSON.stringify(new URL("adapters/openai/mod.ts", root).href)};
`;

/** A file of a bundle. */
interface Chunk {
  readonly code: string;
  readonly gzippedBytes: number;
}

Deno.test("browser: a bundle of the agent and an adapter does not use Deno or node: and is initially at most 25 KB gzipped", async () => {
  const chunks = await bundle(entry);
  for (const { code } of chunks.values()) {
    assertEquals(code.match(/["']node:\w+|\bDeno\b/g), null);
  }
  const initialBytes = sumBytes(findInitialChunks(chunks));
  const totalBytes = sumBytes([...chunks.values()]);
  console.log(
    `${toKilobytes(initialBytes)} KB gzipped, without ajv; ` +
      `${toKilobytes(totalBytes)} KB with all that the adapter loads on its first request`,
  );
  assert(initialBytes <= MAX_INITIAL_BYTES, `${initialBytes} > ${MAX_INITIAL_BYTES} bytes`);
  assert(totalBytes <= MAX_TOTAL_BYTES, `${totalBytes} > ${MAX_TOTAL_BYTES} bytes`);
});

/** Bundles a module and returns the chunks by file name; that of the module is `entry.js`. */
async function bundle(source: string): Promise<ReadonlyMap<string, Chunk>> {
  const directory = await Deno.makeTempDir({ prefix: "swink_bundle_" });
  try {
    const input = `${directory}/entry.ts`;
    const output = `${directory}/output`;
    await Deno.writeTextFile(input, source);
    const { success, text } = await runDeno("bundle", [
      ...["--platform", "browser", "--minify", "--external", "ajv", "--code-splitting"],
      ...["--outdir", output, input],
    ]);
    assert(success, text);

    const chunks = new Map<string, Chunk>();
    for await (const { name } of Deno.readDir(output)) {
      const code = await Deno.readTextFile(`${output}/${name}`);
      chunks.set(name, { code, gzippedBytes: await getGzippedSize(code) });
    }
    return chunks;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Returns the chunks that are loaded before the code of the entry runs. */
function findInitialChunks(chunks: ReadonlyMap<string, Chunk>): Chunk[] {
  const names = new Set(["entry.js"]);
  for (const name of names) {
    const code = chunks.get(name)?.code ?? "";
    // A dynamic import has a parenthesis before the name.
    for (const [, imported = ""] of code.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)) {
      names.add(imported);
    }
  }
  return [...names].map((name) => {
    const chunk = chunks.get(name);
    assert(chunk, `${name} is not in the bundle`);
    return chunk;
  });
}

function sumBytes(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { gzippedBytes }) => sum + gzippedBytes, 0);
}

function toKilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}

async function getGzippedSize(text: string): Promise<number> {
  const compressed = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(compressed).bytes()).length;
}
