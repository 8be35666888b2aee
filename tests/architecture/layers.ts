/**
 * The layers of the project and what each may import.
 *
 * @module
 */

import type { ImportingFile } from "./imports.ts";

interface Layer {
  /** Matches the files of the layer. */
  files: RegExp;
  /** Other files of the project that it may import. */
  ours: RegExp;
  /** Packages and built-in modules that it may import, if `file` is set only in some files. */
  others: { specifier: RegExp; file?: RegExp }[];
}

const nothing = /(?!)/;

/** A package that only one module needs is imported only by the file that wraps it. */
const layers: Layer[] = [
  {
    files: /^src\/core\//,
    ours: nothing,
    others: [{ specifier: /^ajv\//, file: /\/schema\.ts$/ }],
  },
  { files: /^src\/loop\//, ours: /^src\/core\//, others: [] },
  { files: /^src\/agent\//, ours: /^src\/(loop|core)\//, others: [] },
  { files: /^adapters\/catalog\//, ours: /^src\/core\//, others: [] },
  {
    files: /^adapters\/kit\//,
    ours: /^(src\/core|adapters\/catalog)\//,
    others: [{ specifier: /^@std\/streams/ }],
  },
  {
    // Providers whose API is a dialect of OpenAI's.
    files: /^adapters\/(azure|mistral|xai)\//,
    ours: /^(src\/core|adapters\/(kit|catalog|openai))\//,
    others: [],
  },
  {
    // Bedrock passes the thinking options of Claude models on as Anthropic defines them.
    files: /^adapters\/bedrock\//,
    ours: /^(src\/core|adapters\/(kit|catalog|anthropic))\//,
    others: [{ specifier: /^(aws4fetch|@smithy\/eventstream-codec)$/ }],
  },
  { files: /^adapters\/[^/]+\//, ours: /^(src\/core|adapters\/(kit|catalog))\//, others: [] },
  { files: /^adapters\//, ours: /^(src\/core|adapters)\//, others: [] },
  {
    files: /^src\/local\//,
    ours: /^src\/core\//,
    others: [{ specifier: /^node-llama-cpp$/, file: /\/llama_runtime\.ts$/ }],
  },
  {
    files: /^src\/mcp\//,
    ours: /^src\/(agent|loop|core)\//,
    others: [{ specifier: /^@modelcontextprotocol\// }, { specifier: /^node:/ }],
  },
  {
    files: /^src\/eval\//,
    ours: /^src\/(agent|loop|core)\//,
    others: [{ specifier: /^(@std\/yaml|yaml)$/ }, { specifier: /^node:/ }],
  },
  {
    files: /^src\/(cassettes|patch)\//,
    ours: /^src\/core\//,
    others: [{ specifier: /^node:/ }],
  },
  {
    files: /^src\/testing\//,
    ours: /^src\/(agent|loop|core|cassettes)\//,
    others: [{ specifier: /^node:/ }],
  },
  {
    files: /^src\/tools\//,
    ours: /^src\/(agent|loop|core)\//,
    others: [{ specifier: /^node:/ }, { specifier: /^@std\/text\// }],
  },
  {
    files: /^src\/(policies|memory|sync)\//,
    ours: /^src\/(agent|loop|core)\//,
    others: [{ specifier: /^node:/ }],
  },
  { files: /^mod\.ts$/, ours: /^src\/(agent|loop|core)\//, others: [] },
  {
    files: /^cli\//,
    // adapters/mod.ts loads every adapter; connect.ts and catalog/catalog.ts do not. A compiled program runs the
    // confinement helper, which is not part of the library's API.
    ours:
      /^(mod\.ts|adapters\/(mod|connect|catalog\/catalog)\.ts|src\/\w+\/mod\.ts|src\/tools\/confinement\/confined_exec\.ts)$/,
    others: [{ specifier: /./ }],
  },
];

/** Returns a message for each import that the layer of a file does not allow. */
export function findLayerViolations(file: ImportingFile): string[] {
  const layer = layers.find(({ files }) => files.test(file.path));
  if (!layer) return [`${file.path} is in no layer`];
  const own = getModule(file.path);
  const files = file.ours.filter((path) => !layer.ours.test(path) && getModule(path) !== own);
  const packages = file.others.filter((specifier) => !isAllowed(specifier, file.path, layer));
  return [...files, ...packages].map((imported) => `${file.path} may not import ${imported}`);
}

/** Returns `src/tools` for `src/tools/bash.ts`, `cli` for `cli/render/theme.ts`. */
function getModule(path: string): string {
  return path.match(/^((src|adapters)\/)?[^/]+/)?.[0] ?? path;
}

function isAllowed(specifier: string, path: string, layer: Layer): boolean {
  return layer.others.some((rule) =>
    rule.specifier.test(specifier) && (rule.file?.test(path) ?? true)
  );
}
