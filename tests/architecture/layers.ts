/**
 * The floors of the house: which folder may import which.
 *
 * @module
 */

import type { ImportingFile } from "./imports.ts";

interface Layer {
  /** Where the floor is. */
  files: RegExp;
  /** What it may import of ours, itself aside. */
  ours: RegExp;
  /** What it may import of others, and in which of its files if not in all. */
  others: { specifier: RegExp; file?: RegExp }[];
}

const NOTHING = /(?!)/;

/** A room's own library belongs in the one file that wraps it. */
const layers: Layer[] = [
  {
    files: /^src\/core\//,
    ours: NOTHING,
    others: [{ specifier: /^ajv\//, file: /\/schema\.ts$/ }],
  },
  { files: /^src\/loop\//, ours: /^src\/core\//, others: [] },
  { files: /^src\/agent\//, ours: /^src\/(loop|core)\//, others: [] },
  {
    files: /^adapters\//,
    ours: /^src\/core\//,
    others: [
      { specifier: /^@std\/streams/ },
      { specifier: /^(aws4fetch|@smithy\/eventstream-codec)$/, file: /\/bedrock\// },
    ],
  },
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
    files: /^src\/(policies|tools|memory|sync)\//,
    ours: /^src\/(agent|loop|core)\//,
    others: [{ specifier: /^node:/ }],
  },
  { files: /^mod\.ts$/, ours: /^src\/(agent|loop|core)\//, others: [] },
  {
    files: /^cli\//,
    // adapters/mod.ts loads every adapter; connect.ts and catalog/catalog.ts do not.
    ours: /^(mod\.ts|adapters\/(mod|connect|catalog\/catalog)\.ts|src\/\w+\/mod\.ts)$/,
    others: [{ specifier: /./ }],
  },
];

/** Says in a sentence each what a file imports that its floor may not. */
export function findLayerViolations(file: ImportingFile): string[] {
  const floor = layers.find(({ files }) => files.test(file.path));
  if (!floor) return [`${file.path} is on no floor`];
  const up = file.ours.filter((path) => !floor.ours.test(path) && !isSameModule(file.path, path));
  const foreign = file.others.filter((specifier) => !isAllowed(specifier, file.path, floor));
  return [...up, ...foreign].map((imported) => `${file.path} may not import ${imported}`);
}

function isSameModule(one: string, other: string): boolean {
  return getModule(one) === getModule(other);
}

/** `src/tools` for `src/tools/bash.ts`, `cli` for `cli/render/theme.ts`. */
function getModule(path: string): string {
  return path.match(/^(src\/)?[^/]+/)?.[0] ?? path;
}

function isAllowed(specifier: string, path: string, floor: Layer): boolean {
  return floor.others.some((rule) =>
    rule.specifier.test(specifier) && (rule.file?.test(path) ?? true)
  );
}
