/**
 * The operating system and architecture as Node reports them.
 *
 * @module
 */

import { getNodeProcess } from "./builtin_modules.ts";
import type { ProcessCalls } from "./process_calls.ts";

/** Names that differ between Node and Deno. */
const DENO_NAMES: Readonly<Record<string, string>> = {
  win32: "windows",
  x64: "x86_64",
  arm64: "aarch64",
};

/** Returns the build of this runtime, with the names that Deno uses. */
export function getNodeBuild(): ProcessCalls["build"] {
  const process = getNodeProcess();
  return {
    os: toDenoName(process?.platform),
    arch: toDenoName(process?.arch),
    standalone: false,
  };
}

function toDenoName(name = "unknown"): string {
  return DENO_NAMES[name] ?? name;
}
