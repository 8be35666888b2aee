/**
 * Confinement of commands by the kernel, as far as this machine supports it.
 *
 * @module
 */

import { pathExists } from "../../platform/path_exists.ts";
import type { PipedLaunch } from "../../platform/spawn_process.ts";
import { isDeno, system } from "../../platform/system.ts";
import { isWithin } from "../files/file_rules.ts";
import { DOWNLOAD_VARIABLES, readEnvironmentVariable } from "../process/command_environment.ts";
import { type Launch, startProcess } from "../process/running_process.ts";
import type {
  ConfinedLaunch,
  ConfinedNetwork,
  ConfinementPolicy,
  KernelSupport,
  MountSupport,
} from "./confinement_policy.ts";
import {
  HELPER_ARGUMENT,
  PIPED_ARGUMENT,
  PROBE_ARGUMENT,
  PROBE_MOUNTS_ARGUMENT,
} from "./exec_protocol.ts";
import { listMountedPaths } from "./mounted_paths.ts";
import { excludeHidden } from "./readable_paths.ts";
import { createSeatbeltProfile } from "./seatbelt_profile.ts";

/** The confinement that this machine supports; `linux` is Landlock, seccomp or both, as `support` states. */
export type Confinement =
  | { readonly type: "linux"; readonly support: KernelSupport }
  | { readonly type: "seatbelt" }
  | { readonly type: "none"; readonly reason: string };

/** The rules for a command. */
export interface ConfinementRules extends Omit<ConfinementPolicy, "masked"> {
  /** Paths that may not be read. Landlock cannot exclude them, so on Linux `readable` must not contain them. */
  readonly hidden: readonly string[];
}

/** Devices that every command may read and write. Those that do not exist are skipped. */
export const WRITABLE_DEVICES: readonly string[] = [
  "/dev/null",
  "/dev/zero",
  "/dev/full",
  "/dev/random",
  "/dev/urandom",
];

/**
 * Directory of the other devices on Linux, which no command may read: among them are the terminals, where a command could
 * ask the user questions and read the answers.
 */
export const DEVICE_DIRECTORY = "/dev";

const SANDBOX_EXEC_PATH = "/usr/bin/sandbox-exec";
const UNSHARE_PATH = "/usr/bin/unshare";

/** Executes a program in a user namespace, in which it may create mounts; the ids of user and group stay the same. */
const USER_NAMESPACE_COMMAND: readonly string[] = [
  UNSHARE_PATH,
  "--user",
  "--map-current-user",
  "--keep-caps",
  "--mount",
  "--ipc",
  "--",
];

const HELPER_MODULE = new URL("./confined_exec.ts", import.meta.url);

const DOWNLOAD_COMMAND: readonly string[] = ["cache", "--quiet", "--no-config", "--no-lock"];

let cachedConfinement: Promise<Confinement> | undefined;

/** Detects the confinement of this machine. The result, also a failure, is cached for the process. */
export function findConfinement(): Promise<Confinement> {
  cachedConfinement ??= detectConfinement();
  return cachedConfinement;
}

async function detectConfinement(): Promise<Confinement> {
  switch (system.build.os) {
    case "linux":
      return await probeLinux();
    case "darwin":
      return isFile(SANDBOX_EXEC_PATH)
        ? { type: "seatbelt" }
        : { type: "none", reason: `${SANDBOX_EXEC_PATH} does not exist` };
    default:
      return { type: "none", reason: `confinement is not supported on ${system.build.os}` };
  }
}

async function probeLinux(): Promise<Confinement> {
  // Not with a deno program from PATH, where a directory may be one that commands can write.
  if (!isDeno) {
    return { type: "none", reason: "on Linux, only Deno can set up Landlock and seccomp" };
  }
  if (system.build.standalone && !await isHelper()) {
    return {
      type: "none",
      reason:
        "of the compiled programs, only swink can set up Landlock and seccomp: run this one with deno run",
    };
  }
  try {
    await cacheHelper();
    const [probed, inUserNamespace] = await Promise.all([
      probeKernel(),
      probeUserNamespace(),
    ]);
    const { code, text } = probed;
    if (code !== 0) {
      return { type: "none", reason: text.trim() || `the helper exited with code ${code}` };
    }
    const support: KernelSupport = JSON.parse(text); // written by our own helper
    if (support.landlock === 0 && !support.seccomp) {
      return { type: "none", reason: "the kernel supports neither Landlock nor seccomp filters" };
    }
    const mounts = support.mounts === "none" && inUserNamespace ? "user_namespace" : support.mounts;
    return { type: "linux", support: { ...support, mounts } };
  } catch (error) {
    return { type: "none", reason: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Imports the module of the helper, unless it is a file, so that Deno has it in its cache: the helper itself downloads
 * nothing. Nothing else of the library imports it.
 */
async function cacheHelper(): Promise<void> {
  if (HELPER_MODULE.protocol === "file:") return;
  await import(/* webpackIgnore: true */ HELPER_MODULE.href);
}

/** Asks the helper for the support of the kernel. */
async function probeKernel(): Promise<HelperResult> {
  const launch = createHelperLaunch([PROBE_ARGUMENT]);
  const result = await runHelper(launch);
  if (result.code === 0 || HELPER_MODULE.protocol === "file:") return result;
  // In a project with a `vendor` directory, the import has put the module there, and not into the cache.
  await runHelper({
    program: system.execPath(),
    args: [...DOWNLOAD_COMMAND, `--allow-import=${HELPER_MODULE.host}`, HELPER_MODULE.href],
    env: createHelperEnvironment(DOWNLOAD_VARIABLES),
  });
  return await runHelper(launch);
}

/** Whether this compiled program is one that is the helper with an argument. */
async function isHelper(): Promise<boolean> {
  const { findChildProgram } = await import("../process/child_program.ts");
  return findChildProgram() !== undefined;
}

/** Whether a helper can mount in a user namespace; not for the superuser, who needs none. */
async function probeUserNamespace(): Promise<boolean> {
  if (system.uid() === 0 || !isFile(UNSHARE_PATH)) return false;
  const launch = createHelperLaunch([PROBE_MOUNTS_ARGUMENT], "user_namespace");
  const { code, text } = await runHelper(launch);
  return code === 0 && text === "true";
}

interface HelperResult {
  readonly code: number;
  /** Standard output. */
  readonly text: string;
}

async function runHelper(launch: Omit<Launch, "cwd">): Promise<HelperResult> {
  const helper = startProcess({ ...launch, cwd: "/", changesFiles: false });
  const text = await new Response(helper.output).text();
  return { code: (await helper.exited).code, text };
}

/** Whether paths in writable directories can be made read-only. */
export function canProtectPaths(confinement: Confinement): boolean {
  switch (confinement.type) {
    case "linux":
      return confinement.support.mounts !== "none";
    case "seatbelt":
      return true;
    case "none":
      return false;
  }
}

/**
 * Wraps a launch so that it runs confined. With `none` the launch is returned unchanged: the caller has decided to run
 * it unconfined. On Linux the command has no standard input, which carries the request to the helper.
 */
export function confineLaunch(
  launch: Launch,
  confinement: Confinement,
  rules: ConfinementRules,
): Launch {
  switch (confinement.type) {
    case "none":
      return launch;
    case "seatbelt":
      return { ...launch, ...createSeatbeltLaunch(launch, rules) };
    case "linux":
      return {
        ...createHelperLaunch([], confinement.support.mounts),
        cwd: launch.cwd,
        input: createHelperRequest(launch, { rules, mounts: confinement.support.mounts }),
      };
  }
}

/** Wraps the launch of a program whose standard streams are piped, as {@linkcode confineLaunch} wraps that of a command. */
export function confinePipedLaunch(
  launch: PipedLaunch,
  confinement: Confinement,
  rules: ConfinementRules,
): PipedLaunch {
  switch (confinement.type) {
    case "none":
      return launch;
    case "seatbelt":
      return { ...launch, ...createSeatbeltLaunch(launch, rules) };
    case "linux": {
      const { mounts } = confinement.support;
      const request = createHelperRequest(launch, { rules, mounts });
      const encoder = new TextEncoder();
      const preamble = encoder.encode(`${encoder.encode(request).length}\n${request}`);
      return { ...createHelperLaunch([PIPED_ARGUMENT], mounts), cwd: launch.cwd, preamble };
    }
  }
}

function createSeatbeltLaunch(
  launch: PipedLaunch,
  rules: ConfinementRules,
): Pick<PipedLaunch, "program" | "args"> {
  return {
    program: SANDBOX_EXEC_PATH,
    args: ["-p", createSeatbeltProfile(rules), ...toArgv(launch)],
  };
}

interface HelperRequestOptions {
  readonly rules: ConfinementRules;
  readonly mounts: MountSupport;
}

function createHelperRequest(
  launch: PipedLaunch,
  { rules, mounts }: HelperRequestOptions,
): string {
  const { hidden, readOnly, ...policy } = rules;
  const request: ConfinedLaunch = {
    policy: {
      ...policy,
      ...hideInWritable(withoutDevices(rules.writable), {
        hidden: withMountedPaths(hidden),
        mounts,
      }),
      readOnly: withMountedPaths(readOnly),
    },
    mounts,
    cwd: launch.cwd,
    argv: toArgv(launch),
    env: launch.env,
  };
  return JSON.stringify(request);
}

/** Replaces the root of the file system by its entries without the devices, which a grant of it would include. */
function withoutDevices(writable: readonly string[]): string[] {
  return writable.flatMap((path) => excludeHidden(path, [DEVICE_DIRECTORY]));
}

/**
 * Hides paths in writable directories: behind empty ones, or, without a mount namespace, by granting only the other entries
 * of these directories, in which no entry can then be created.
 */
function hideInWritable(
  writable: readonly string[],
  { hidden, mounts }: { readonly hidden: readonly string[]; readonly mounts: MountSupport },
): Pick<ConfinementPolicy, "writable" | "masked"> {
  if (mounts === "none") {
    return { writable: writable.flatMap((path) => excludeHidden(path, hidden)), masked: [] };
  }
  const isInWritable = (path: string) => writable.some((directory) => isWithin(path, directory));
  return { writable, masked: selectOuter(withMountedPaths(hidden.filter(isInWritable))) };
}

/** Leaves out the paths in others, which are missing once these appear empty. */
function selectOuter(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => paths.every((other) => other === path || !isWithin(path, other)));
}

/** Adds the further paths of what is mounted at several places, for each of which a grant of one applies. */
function withMountedPaths(paths: readonly string[]): readonly string[] {
  return [...paths, ...listMountedPaths(paths).filter(pathExists)];
}

/** Returns the arguments for `execve()`, which needs a path; `/usr/bin/env` looks up a bare name. */
function toArgv({ program, args }: PipedLaunch): string[] {
  return program.startsWith("/") ? [program, ...args] : ["/usr/bin/env", program, ...args];
}

/**
 * Returns the launch of the helper process, which confines itself and then executes the command: this program itself when
 * it is compiled, else Deno with a module. The flags keep the configuration of the user and the network out.
 */
function createHelperLaunch(
  args: readonly string[],
  mounts: MountSupport = "none",
): Pick<Launch, "program" | "args" | "env"> {
  const env = createHelperEnvironment();
  const [program = "", ...helperArgs] = [
    ...(mounts === "user_namespace" ? USER_NAMESPACE_COMMAND : []),
    system.execPath(),
    ...createHelperArguments(args),
  ];
  return { program, args: helperArgs, env };
}

function createHelperArguments(args: readonly string[]): string[] {
  if (system.build.standalone) return [HELPER_ARGUMENT, ...args];
  const flags = [
    "--quiet",
    "--no-prompt",
    "--no-config",
    "--no-lock",
    "--cached-only",
    "--allow-ffi",
  ];
  return ["run", ...flags, HELPER_MODULE.href, ...args];
}

/** Creates the environment of the helper, with which Deno finds its cache. That of the command is in the request. */
function createHelperEnvironment(additional: readonly string[] = []): Record<string, string> {
  const env: Record<string, string> = { DENO_NO_UPDATE_CHECK: "1" };
  for (const name of ["HOME", "PATH", "DENO_DIR", "XDG_CACHE_HOME", ...additional]) {
    const value = readEnvironmentVariable(name);
    if (value !== undefined) env[name] = value;
  }
  return env;
}

function isFile(path: string): boolean {
  try {
    return system.statSync(path).isFile;
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
