/**
 * Confinement of commands by the kernel: chosen by what this machine can do, and told exactly.
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

/** What confines commands on this machine; on Linux Landlock and seccomp, or whichever of them is there. */
export type Confinement =
  | { readonly type: "landlock"; readonly support: KernelSupport }
  | { readonly type: "seatbelt" }
  | { readonly type: "none"; readonly reason: string };

/** What a command is confined to. */
export interface ConfinementRules extends ConfinementPolicy {
  /** What may not be read; where the kernel only grants, `readable` leaves it out. */
  readonly hidden: readonly string[];
}

/** Devices that every program may write to. */
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

/** Finds out, once, what confines commands on this machine. */
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
        : { type: "none", reason: `${SEATBELT} is not there` };
    default:
      return { type: "none", reason: `there is no confinement for ${Deno.build.os}` };
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
    if (code !== 0) return { type: "none", reason: text.trim() || `the helper ended with ${code}` };
    const support: KernelSupport = JSON.parse(text);
    if (support.landlock > 0 || support.seccomp) return { type: "landlock", support };
    return { type: "none", reason: "the kernel has neither Landlock nor seccomp switched on" };
  } catch (error) {
    return { type: "none", reason: error instanceof Error ? error.message : String(error) };
  }
}

/** A launch that runs confined. */
export function confineLaunch(
  launch: Launch,
  confinement: Confinement,
  confines: ConfinementRules,
): Launch {
  switch (confinement.type) {
    case "none":
      return launch;
    case "seatbelt":
      return {
        ...launch,
        program: SEATBELT,
        args: ["-p", createSeatbeltProfile(confines, confines), ...toArgv(launch)],
      };
    case "landlock": {
      const { hidden: _hidden, ...policy } = confines;
      const request: ConfinedLaunch = { policy, argv: toArgv(launch), env: launch.env };
      return { ...createHelperLaunch([]), cwd: launch.cwd, input: JSON.stringify(request) };
    }
  }
}

/** The kernel starts programs by their paths; a bare name is looked up by `env`. */
function toArgv({ program, args }: Launch): string[] {
  return program.startsWith("/") ? [program, ...args] : ["/usr/bin/env", program, ...args];
}

/** This same program as the helper that confines itself and becomes the command. */
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

/** Enough for Deno to find its cache; the command gets its own environment. */
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

/** The network of commands as the policy has it. */
export function toConfinedNetwork(
  network: "on" | "off" | readonly string[],
  proxyPort: number | undefined,
): ConfinedNetwork {
  if (network === "on" || network === "off") return { type: network };
  return proxyPort === undefined ? { type: "off" } : { type: "proxy", port: proxyPort };
}
