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
  internal: RegExp;
  /** Packages and built-in modules that it may import; if `file` is set, only in matching files. */
  external: { specifier: RegExp; file?: RegExp }[];
}

const nothing = /(?!)/;

/**
 * Files of the library that the program imports, as sources of patterns.
 *
 * `mod.ts`, `adapters/mod.ts` and `src/tools/mod.ts` load modules that the first request does not need; the single files
 * do not. A compiled program runs the confinement helper, which is not part of the library's API. The import of
 * `node:path` takes 10 ms. Files of a project are read by the reader of untrusted files.
 */
const PROGRAM_IMPORTS = [
  "mod\\.ts",
  "adapters/(mod|connect)\\.ts",
  "adapters/catalog/catalog\\.ts",
  "adapters/ollama/server_url\\.ts",
  "src/(protocols/)?\\w+/mod\\.ts",
  "src/agent/(agent|run_code)\\.ts",
  "src/cassettes/record_fetch\\.ts",
  "src/core/(approval/risk|diff/unified_diff|errors/errors|hooks/retry|json/(json|parsed_problem))\\.ts",
  "src/core/(messages/content|models/(model|usage)|ports/ports|schemas/schema|servers/local_caller)\\.ts",
  "src/core/(sessions/plan_entry|streams/(lazy_stream_fn|tokens)|text/(byte_encoding|redact)|tools/needs_approval)\\.ts",
  "src/eval/recording/replay_agent\\.ts",
  "src/eval/reports/format_measure\\.ts",
  "src/loop/run_turns\\.ts",
  "src/mcp/config/(argument_secrets|read_mcp_config)\\.ts",
  "src/mcp/protocol/client_package\\.ts",
  "src/memory/context/summarize\\.ts",
  "src/memory/file/file_store\\.ts",
  "src/memory/recording/(record_session|resume|session_recording)\\.ts",
  "src/memory/store/sub_agent_link\\.ts",
  "src/platform/(file_lock|output_reading|path_exists|paths|secret_places|started_programs|trusted_path|untrusted_file|untrusted_read)\\.ts",
  "src/policies/worst_case\\.ts",
  "src/protocols/acp/sdk_package\\.ts",
  "src/tools/(basic_tools|coding_tools|skills)\\.ts",
  "src/tools/approval/commands/runs_input\\.ts",
  "src/tools/changes/(change_log|change_log_entry|command_changes|directory_change_log_store)\\.ts",
  "src/tools/confinement/confined_exec\\.ts",
  "src/tools/documents/image_content\\.ts",
  "src/tools/kit/tool_names\\.ts",
  "src/tools/plan/mod\\.ts",
  "src/tools/process/run_worker_process\\.ts",
  "src/tools/sandbox/(local_sandbox|home_directory)\\.ts",
  "src/tools/search/walk_files\\.ts",
  "src/tools/text/file_kind\\.ts",
];

function toPattern(paths: readonly string[]): RegExp {
  return new RegExp(`^(?:${paths.join("|")})$`);
}

/** A package that only one module needs is imported only by the file that wraps it. */
const layers: Layer[] = [
  {
    files: /^src\/core\//,
    internal: nothing,
    external: [
      { specifier: /^ajv\//, file: /^src\/core\/json_schema\/ajv_validator\.ts$/ },
      { specifier: /^re2js$/, file: /^src\/core\/json_schema\/pattern\.ts$/ },
    ],
  },
  { files: /^src\/loop\//, internal: /^src\/core\//, external: [] },
  // The default of `AgentOptions.streamFn`, loaded for the first request.
  {
    files: /^src\/agent\/default_stream\.ts$/,
    internal: /^(src\/(loop|core)\/|adapters\/connect\.ts$)/,
    external: [],
  },
  { files: /^src\/agent\//, internal: /^src\/(loop|core)\//, external: [] },
  { files: /^adapters\/catalog\//, internal: /^src\/core\//, external: [] },
  {
    files: /^adapters\/kit\//,
    internal: /^(src\/core|adapters\/catalog)\//,
    external: [{ specifier: /^@std\/streams/ }],
  },
  {
    // Providers whose API is a dialect of OpenAI's.
    files: /^adapters\/(azure|mistral|xai)\//,
    internal: /^(src\/core|adapters\/(kit|catalog|openai))\//,
    external: [],
  },
  {
    // Bedrock passes the thinking options of Claude models on as Anthropic defines them.
    files: /^adapters\/bedrock\//,
    internal: /^(src\/core|adapters\/(kit|catalog|anthropic))\//,
    external: [{ specifier: /^(aws4fetch|@smithy\/eventstream-codec)$/ }],
  },
  {
    files: /^adapters\/proxy\//,
    internal: /^(src\/core|adapters\/(kit|catalog))\//,
    external: [{ specifier: /^@std\/streams\//, file: /\/request\.ts$/ }],
  },
  { files: /^adapters\/[^/]+\//, internal: /^(src\/core|adapters\/(kit|catalog))\//, external: [] },
  { files: /^adapters\//, internal: /^(src\/core|adapters)\//, external: [] },
  {
    files: /^src\/local\//,
    internal: /^src\/(platform|core)\//,
    external: [{ specifier: /^@huggingface\/jinja$/, file: /\/jinja_package\.ts$/ }],
  },
  {
    files: /^src\/platform\//,
    internal: /^src\/core\//,
    external: [{ specifier: /^node:/ }],
  },
  {
    files: /^src\/mcp\//,
    internal: /^src\/(agent|loop|platform|core)\//,
    external: [{ specifier: /^@modelcontextprotocol\// }, { specifier: /^node:/ }],
  },
  {
    files: /^src\/eval\//,
    internal: /^src\/(agent|loop|cassettes|patch|platform|core)\//,
    external: [{ specifier: /^yaml$/, file: /\/(parse_document|yaml_package)\.ts$/ }],
  },
  {
    files: /^src\/(cassettes|patch)\//,
    internal: /^src\/(platform|core)\//,
    external: [],
  },
  {
    files: /^src\/testing\//,
    internal: /^src\/(agent|loop|core|cassettes)\//,
    external: [],
  },
  {
    files: /^src\/tools\//,
    internal: /^src\/(agent|loop|platform|core)\//,
    // Types of file handles.
    external: [
      { specifier: /^node:fs\/promises$/ },
      { specifier: /^@std\/text\// },
      {
        specifier: /^unbash$/,
        file:
          /\/(?:assigned_values|script_steps|shell_syntax|shell_tree|text_readers|(?:constant|numeric|list)_variables)\.ts$/,
      },
      { specifier: /^unpdf$/, file: /\/pdf_worker\.ts$/ },
      { specifier: /^@cf-wasm\/photon\//, file: /\/image_worker\.ts$/ },
    ],
  },
  {
    files: /^src\/protocols\/(acp|web_client)\//,
    internal: /^src\/(agent|loop|core)\//,
    external: [],
  },
  {
    files: /^src\/protocols\/(ag_ui|ai_sdk)\//,
    internal: /^src\/(protocols\/web_client|agent|loop|core)\//,
    external: [],
  },
  {
    files: /^src\/(client|policies|sub_agents|telemetry)\//,
    internal: /^src\/(agent|loop|core)\//,
    external: [],
  },
  {
    files: /^src\/(memory|sync)\//,
    internal: /^src\/(agent|loop|platform|core)\//,
    external: [{ specifier: /^node:sqlite$/, file: /\/sqlite_database\.ts$/ }],
  },
  { files: /^src\/durable\//, internal: /^src\/(agent|loop|platform|core)\//, external: [] },
  // Runs of an engine, in a module of its own.
  {
    files: /^src\/server\/durable\//,
    internal: /^src\/(durable|agent|loop|memory|platform|core)\//,
    external: [],
  },
  {
    files: /^src\/server\//,
    internal: /^src\/(agent|loop|memory|platform|core)\//,
    external: [],
  },
  { files: /^mod\.ts$/, internal: /^src\/(agent|loop|core)\//, external: [] },
  {
    files: /^cli\//,
    // The program's first request does not wait for modules that it does not need.
    internal: toPattern(PROGRAM_IMPORTS),
    external: [{ specifier: /./ }],
  },
];

/** Returns a message for each import that the layer of a file does not allow. */
export function findLayerViolations(file: ImportingFile): string[] {
  const layer = layers.find(({ files }) => files.test(file.path));
  if (!layer) return [`${file.path} is in no layer`];
  const ownModule = getModule(file.path);
  const files = file.internal.filter((path) =>
    !layer.internal.test(path) && getModule(path) !== ownModule
  );
  const packages = file.external.filter((specifier) => !isAllowed(specifier, file.path, layer));
  return [...files, ...packages].map((imported) => `${file.path} may not import ${imported}`);
}

/** Returns `src/tools` for `src/tools/bash.ts`, `cli` for `cli/render/theme.ts`. */
function getModule(path: string): string {
  return path.match(/^((src|adapters)\/)?[^/]+/)?.[0] ?? path;
}

function isAllowed(specifier: string, path: string, layer: Layer): boolean {
  return layer.external.some((rule) =>
    rule.specifier.test(specifier) && (rule.file?.test(path) ?? true)
  );
}
