/**
 * Starts the process that reads one PDF document.
 *
 * @module
 */

import { getNodeProcess } from "../../platform/builtin_modules.ts";
import { fromFileUrl } from "../../platform/paths.ts";
import { isDeno } from "../../platform/system.ts";
import { createCommandEnvironment } from "../process/command_environment.ts";
import { type ChildProgram, findChildProgram } from "../process/child_program.ts";
import { type RunningProcess, startProcess } from "../process/running_process.ts";
import type { DocumentLimits } from "./document_worker.ts";

/** First argument that makes a compiled program read a PDF document. */
export const READ_PDF_ARGUMENT = "--swink-read-pdf";

/** Variables with which Deno downloads a package for the first document. */
const DOWNLOAD_VARIABLES: readonly string[] = [
  ...["XDG_CACHE_HOME", "NPM_CONFIG_REGISTRY", "DENO_CERT", "DENO_TLS_CA_STORE"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"],
];

/** Starts the process; returns `undefined` where no process can be started. */
export function startPdfProcess(
  bytes: Uint8Array,
  limits: DocumentLimits,
): RunningProcess | undefined {
  try {
    const program = findChildProgram();
    if (!program || !canRun(program.path)) return undefined;
    return startProcess({
      program: program.path,
      args: [...createArguments(program), JSON.stringify(limits)],
      cwd: "/", // where no configuration for Deno or Bun is
      env: createCommandEnvironment({
        passEnvironment: DOWNLOAD_VARIABLES,
        set: { DENO_NO_UPDATE_CHECK: "1" },
      }),
      input: new Uint8Array(bytes),
      changesFiles: false,
    });
  } catch {
    return undefined;
  }
}

/** Whether a program can be started without a question of Deno to the user. */
function canRun(path: string): boolean {
  if (!isDeno) return true;
  // deno-lint-ignore swink/portable -- only Deno has permissions
  return Deno.permissions.querySync({ name: "run", command: path }).state === "granted";
}

/** Limit of the JavaScript heap, which the content of arrays of bytes is not part of. */
const MAX_HEAP_MEGABYTES = 1_500;

function createArguments({ type }: ChildProgram): string[] {
  const module = new URL("./pdf_process_main.ts", import.meta.url);
  switch (type) {
    case "swink":
      return [READ_PDF_ARGUMENT];
    case "deno":
      return ["run", ...createDenoFlags(module), module.href];
    case "node":
      return [...createNodeFlags(), fromFileUrl(module)];
    case "bun":
      return [fromFileUrl(module)];
  }
}

/** The process may read, or import, only the modules of the library, which its worker needs. */
function createDenoFlags(module: URL): string[] {
  const modules = new URL("../../", import.meta.url);
  return [
    ...["--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-check"],
    `--v8-flags=--max-old-space-size=${MAX_HEAP_MEGABYTES}`,
    module.protocol === "file:"
      ? `--allow-read=${fromFileUrl(modules).replaceAll(",", ",,")}`
      : `--allow-import=${module.host}`,
  ];
}

/** From Node 22, the process may neither write files nor start programs. */
function createNodeFlags(): string[] {
  const hasPermissions = getNodeProcess()?.allowedNodeEnvironmentFlags?.has("--permission");
  return [
    `--max-old-space-size=${MAX_HEAP_MEGABYTES}`,
    ...(hasPermissions ? ["--permission", "--allow-fs-read=*", "--allow-worker"] : []),
  ];
}
