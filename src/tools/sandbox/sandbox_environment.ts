/**
 * Environment variables of the commands in a sandbox.
 *
 * @module
 */

import { join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import {
  createCommandEnvironment,
  readEnvironmentVariable,
} from "../process/command_environment.ts";
import type { PrivateDirectory } from "./private_directory.ts";
import type { SandboxNet } from "./sandbox.ts";

/** Options for {@linkcode createSandboxEnvironment}. */
export interface SandboxEnvironmentOptions {
  /** Directory of the sandbox. */
  readonly directory: PrivateDirectory;
  /** Network access of the command. */
  readonly net: SandboxNet;
  /** Names of additional variables to copy from this program. */
  readonly passEnvironment?: readonly string[];
  /** Variables to set; they take precedence. */
  readonly set: Readonly<Record<string, string>>;
}

/** Creates the complete environment of a command. Temporary files and caches go to the directory of the sandbox. */
export function createSandboxEnvironment(
  options: SandboxEnvironmentOptions,
): Record<string, string> {
  const { directory, net, passEnvironment = [], set } = options;
  const locations = createLocationVariables(directory, net);
  return createCommandEnvironment({ passEnvironment, set: { ...locations, ...set } });
}

/** Creates the variables with the locations of temporary files and caches. */
export function createLocationVariables(
  { temporary, caches }: PrivateDirectory,
  net: SandboxNet,
): Record<string, string> {
  // Without a network Deno cannot fill a new cache; the default one is readable.
  const denoDirectory = net === "off" ? getDefaultDenoDirectory() : undefined;
  return {
    TMPDIR: temporary,
    XDG_CACHE_HOME: caches,
    npm_config_cache: join(caches, "npm"),
    PYTHONPYCACHEPREFIX: join(caches, "pycache"),
    DENO_DIR: denoDirectory ?? join(caches, "deno"),
  };
}

function getDefaultDenoDirectory(): string | undefined {
  const configured = readEnvironmentVariable("DENO_DIR");
  if (configured !== undefined) return configured;
  const cache = readEnvironmentVariable("XDG_CACHE_HOME");
  if (cache !== undefined) return join(cache, "deno");
  const home = readEnvironmentVariable("HOME");
  const caches = system.build.os === "darwin" ? "Library/Caches" : ".cache";
  return home === undefined ? undefined : join(home, caches, "deno");
}

/** Creates the variables with the address of a proxy, in upper and lower case. */
export function createProxyVariables(port: number): Record<string, string> {
  const address = `http://127.0.0.1:${port}`;
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
  return Object.fromEntries(
    names.flatMap((name) => [[name, address], [name.toLowerCase(), address]]),
  );
}
