import { assert, assertEquals } from "@std/assert";
import { root, runDeno } from "../project.ts";

/** Maximum gzipped size of the agent and one adapter before the first prompt, without ajv. */
const MAX_INITIAL_BYTES = 25 * 1024;

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
  const initialBytes = sumBytes(findChunks(chunks, STATIC_IMPORT));
  const loaded = findChunks(chunks, ANY_IMPORT);
  for (const { code } of loaded) assertEquals(code.match(/["']node:\w+|\bDeno\b/g), null);
  console.log(
    `${toKilobytes(initialBytes)} KB gzipped, without ajv; ` +
      `${toKilobytes(sumBytes(loaded))} KB with all that prompts load`,
  );
  assert(initialBytes <= MAX_INITIAL_BYTES, `${initialBytes} bytes; limit: ${MAX_INITIAL_BYTES}`);
});

Deno.test("browser: the catalog is loaded with the first prompt", async () => {
  const chunks = await bundle(entry);
  const hasCatalog = ({ code }: Chunk) => code.includes("claude-opus-5");
  assertEquals(findChunks(chunks, STATIC_IMPORT).some(hasCatalog), false);
  assertEquals(findChunks(chunks, ANY_IMPORT).some(hasCatalog), true);
});

Deno.test("browser: a client that reads the events of a server is at most 7 KB gzipped and has no agent loop", async () => {
  const client = new URL("src/client/mod.ts", root).href;
  const chunks = await bundle(`export * from ${JSON.stringify(client)};`);
  const loaded = findChunks(chunks, ANY_IMPORT);
  const bytes = sumBytes(loaded);
  assert(bytes <= 7 * 1024, `${bytes} bytes`);
  for (const { code } of loaded) {
    assertEquals(code.match(/["']node:\w+|\bDeno\b|preDispatch/g), null);
  }
});

/** Bundles a module and returns the chunks by file name; that of the module is `entry.js`. */
async function bundle(source: string): Promise<ReadonlyMap<string, Chunk>> {
  const directory = await Deno.makeTempDir({ prefix: "swink_bundle_" });
  try {
    const input = `${directory}/entry.ts`;
    const output = `${directory}/output`;
    await Deno.writeTextFile(input, source);
    const { success, text } = await runDeno("bundle", [
      ...[
        "--platform",
        "browser",
        "--minify",
        "--external",
        "ajv",
        "--external",
        "re2js",
        "--code-splitting",
      ],
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

/** Matches the chunks that are loaded before the code of a chunk runs. */
const STATIC_IMPORT = /(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g;

/** Matches also those that are loaded later, except all adapters, which only an agent without a stream function loads. */
const ANY_IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"\.\/(?!connect-)([^"]+)"/g;

/** Returns the chunks that the entry imports, directly or indirectly. */
function findChunks(chunks: ReadonlyMap<string, Chunk>, imports: RegExp): Chunk[] {
  const found: Chunk[] = [];
  const names = new Set(["entry.js"]);
  for (const name of names) {
    const chunk = chunks.get(name);
    assert(chunk, `${name} is not in the bundle`);
    found.push(chunk);
    for (const [, imported = ""] of chunk.code.matchAll(imports)) names.add(imported);
  }
  return found;
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
