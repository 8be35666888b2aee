/**
 * The modules that a run loads: each one delays the first request, and takes memory.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { root } from "../project.ts";
import { scriptedCall, scriptedReply } from "./fake_host.ts";
import { observeLoadedModules } from "./loaded_modules.ts";
import { startMockProvider } from "./mock_provider.ts";
import { startSwink } from "./swink_process.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** Maximum number of modules of the project before the first request. */
const MAX_MODULES = 429;

/** Modules that the first request must not wait for. */
const LATER_MODULES = [
  /^mod\.ts$/,
  /^cli\/(command_line\/help|commands\/\w+_command|demo\/.*|questions\/.*)\.ts$/,
  /^cli\/render\/(?!plain_text|style|code_point|visible_text)/,
  /^cli\/sessions\/(open_session|start_recording|find_session|choose_session)\.ts$/,
  /^cli\/config\/(?!(load_config|apply_config|check_config_value|config_\w+|provider_settings)\.ts)/,
  /^cli\/run\/(approval|finish_run|run_reporter|start_report|write_patch)\.ts$/,
  /^src\/(cassettes|mcp|patch|policies|sub_agents|testing)\//,
  /^src\/memory\/(?!context\/|store\/safe_stringify)/,
  /^src\/tools\/(mod\.ts|coding_tools\.ts|approval\/|changes\/work_tree|fetch_url|sandbox\/name_suggestion|search\/(?!walk)|file_tools\/run_search|documents\/(pdf|scale))/,
];

/** The first module that is loaded when the first request has been sent. */
const FIRST_LATER_MODULE = "adapters/anthropic/response.ts";

/** Runs a prompt with a late reply and a tool call; returns the modules that the program loads, in order. */
async function listLoadedModules(): Promise<string[]> {
  await using provider = startMockProvider(
    { reply: scriptedReply(scriptedCall("read_file", { path: "a.txt" })), afterMs: 100 },
    scriptedReply("Read."),
  );
  await using directory = await createTemporaryDirectory({ "a.txt": "a\n" });
  await using process = startSwink(["run", "Read a.txt"], {
    cwd: directory.path,
    env: { ANTHROPIC_API_KEY: "sk-ant-test", ANTHROPIC_BASE_URL: provider.url },
    waitsForDebugger: true,
  });
  await using modules = await observeLoadedModules(process);
  // The process does not exit before the inspector is disconnected.
  await process.waitForText("2 turns");
  return modules.urls.map((url) => url.replace(root.href, ""));
}

Deno.test("start: the first request waits only for the modules that it needs", async () => {
  const loaded = await listLoadedModules();
  const end = loaded.indexOf(FIRST_LATER_MODULE);
  assert(end > 0, loaded.join("\n"));
  const early = loaded.slice(0, end).filter((path) => /^(mod|cli|src|adapters)\b/.test(path));
  assertEquals(early.filter((path) => LATER_MODULES.some((later) => later.test(path))), []);
  assert(early.length <= MAX_MODULES, `${early.length} modules`);
});

Deno.test("start: a run whose calls are valid and only read files loads neither ajv, node:fs nor rules", async () => {
  const loaded = await listLoadedModules();
  assert(loaded.includes("src/tools/file_tools/read_file.ts"));
  assert(loaded.some((url) => url.startsWith("ext:")), loaded.join("\n"));
  // Each takes 5 to 10 MB.
  const expensive = /ajv|^node:fs|^ext:deno_node\/fs|^src\/tools\/approval\//;
  assertEquals(loaded.filter((url) => expensive.test(url)), []);
});
