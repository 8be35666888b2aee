/**
 * Commands that nothing confines.
 *
 * @module
 */

import type { SpawnedProcess } from "../../core/ports/process_spawner.ts";
import { spawnProcess } from "../../platform/spawn_process.ts";
import { system } from "../../platform/system.ts";
import type { CommandSandbox, RunningCommand } from "./command_sandbox.ts";

/** Variables of this program that commands get; others may hold keys. */
const VARIABLES = [
  ...["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP"],
  ...["DENO_DIR", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME", "VIRTUAL_ENV"],
  ...["SystemRoot", "ComSpec", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE"],
];

/**
 * Opens a directory for commands that are not confined: they have the rights of this program, but of its environment only
 * the variables that programs need. What an agent wrote can run with them, so that this is only for agents that are
 * trusted, or inside of a container.
 */
export function openUnconfined({ cwd }: { readonly cwd: string }): CommandSandbox {
  return {
    startCommand: async (command) => toRunningCommand(await startShell(command, cwd)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function startShell(command: string, cwd: string): Promise<SpawnedProcess> {
  const [program, args] = system.build.os === "windows"
    ? ["cmd", ["/d", "/s", "/c", `(${command}) 2>&1`]]
    : ["sh", ["-c", 'exec 2>&1; eval "$1"', "sh", command]];
  return spawnProcess({ program, args, cwd, env: readVariables() });
}

function readVariables(): Record<string, string> {
  const values = VARIABLES.map((name) => [name, system.env.get(name)] as const);
  return Object.fromEntries(
    values.flatMap(([name, value]) => value === undefined ? [] : [[name, value]]),
  );
}

function toRunningCommand(
  { stdin, stdout, stderr, exited, terminate }: SpawnedProcess,
): RunningCommand {
  stdin.close().catch(() => {});
  stderr.cancel().catch(() => {});
  return { output: stdout, exited, terminate };
}
