/**
 * Confinement of commands by the kernel, as far as this machine supports it.
 *
 * @module
 */

import { HELPER_ARGUMENT, PROBE_ARGUMENT } from "./confined_exec.ts";
import type {
  ConfinedLaunch,
  ConfinedNetwork,
  ConfinementPolicy,
  KernelSupport,
} from "./confinement_policy.ts";
import { readEnvironmentVariable } from "../process/command_environment.ts";
import type { Launch } from "../process/running_process.ts";
import { createSeatbeltProfile } from "./seatbelt_profile.ts";

/** The confinement of commands on this machine; `landlock` is Landlock and seccomp, or one of them. */
export type Confinement =
  | { readonly type: "landlock"; readonly support: KernelSupport }
  | { readonly type: "seatbelt" }
  | { readonly type: "none"; readonly reason: string };

/** The rules for a command. */
export interface ConfinementRules extends ConfinementPolicy {
  /** Paths that may not be read. Not used on Linux, where `readable` does not contain them. */
  readonly hidden: readonly string[];
}

/** Devices that every command may write. */
export const HARMLESS_DEVICES: readonly string[] = [
  "/dev/null",
  "/dev/zero",
  "/dev/full",
  "/dev/random",
  "/dev/urandom",
  "/dev/tty",
  "/dev/ptmx",
  "/dev/pts",
];

const SEATBELT = "/usr/bin/sandbox-exec";

let cachedConfinement: Promise<Confinement> | undefined;

/** Detects the confinement of this machine and caches the result. */
export function findConfinement(): Promise<Confinement> {
  cachedConfinement ??= detectConfinement();
  return cachedConfinement;
}

async function detectConfinement(): Promise<Confinement> {
  switch (Deno.build.os) {
    case "linux":
      return await probeLinux();
    case "darwin":
      return isFile(SEATBELT)
        ? { type: "seatbelt" }
        : { type: "none", reason: `${SEATBELT} does not exist` };
    default:
      return { type: "none", reason: `confinement is not supported on ${Deno.build.os}` };
  }
}

async function probeLinux(): Promise<Confinement> {
  try {
    const { program, args, env } = createHelperLaunch([PROBE_ARGUMENT]);
    const { code, stdout } = await new Deno.Command(program, {
      args: [...args],
      env,
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).output();
    const text = new TextDecoder().decode(stdout);
    if (code !== 0) {
      return { type: "none", reason: text.trim() || `the helper exited with code ${code}` };
    }
    const support: KernelSupport = JSON.parse(text);
    if (support.landlock > 0 || support.seccomp) return { type: "landlock", support };
    return { type: "none", reason: "the kernel has neither Landlock nor seccomp enabled" };
  } catch (error) {
    return { type: "none", reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Wraps a launch so that it runs confined. */
export function confineLaunch(
  launch: Launch,
  confinement: Confinement,
  rules: ConfinementRules,
): Launch {
  switch (confinement.type) {
    case "none":
      return launch;
    case "seatbelt":
      return {
        ...launch,
        program: SEATBELT,
        args: ["-p", createSeatbeltProfile(rules), ...toArgv(launch)],
      };
    case "landlock": {
      const { hidden: _hidden, ...policy } = rules;
      const request: ConfinedLaunch = { policy, argv: toArgv(launch), env: launch.env };
      return { ...createHelperLaunch([]), cwd: launch.cwd, input: JSON.stringify(request) };
    }
  }
}

/** Returns the arguments for `execve()`, which needs a path; `env` looks up a bare name. */
function toArgv({ program, args }: Launch): string[] {
  return program.startsWith("/") ? [program, ...args] : ["/usr/bin/env", program, ...args];
}

/** Creates the launch of this program as the helper that confines itself and executes the command. */
function createHelperLaunch(args: readonly string[]): Pick<Launch, "program" | "args" | "env"> {
  const program = Deno.execPath();
  const env = createHelperEnvironment();
  if (Deno.build.standalone) return { program, args: [HELPER_ARGUMENT, ...args], env };
  const module = new URL("./confined_exec.ts", import.meta.url).href;
  const flags = [
    "--quiet",
    "--no-prompt",
    "--no-config",
    "--no-lock",
    "--cached-only",
    "--allow-ffi",
  ];
  return { program, args: ["run", ...flags, module, ...args], env };
}

/** Creates the environment of the helper, for Deno to find its cache; the command gets its own. */
function createHelperEnvironment(): Record<string, string> {
  const env: Record<string, string> = { DENO_NO_UPDATE_CHECK: "1" };
  for (const name of ["HOME", "PATH", "DENO_DIR", "XDG_CACHE_HOME"]) {
    const value = readEnvironmentVariable(name);
    if (value !== undefined) env[name] = value;
  }
  return env;
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** Converts the network setting of a sandbox to the policy; a list of hosts without a proxy is `off`. */
export function toConfinedNetwork(
  network: "on" | "off" | readonly string[],
  proxyPort: number | undefined,
): ConfinedNetwork {
  if (network === "on" || network === "off") return { type: network };
  return proxyPort === undefined ? { type: "off" } : { type: "proxy", port: proxyPort };
}
