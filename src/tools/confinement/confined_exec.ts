// deno-lint-ignore-file swink/portable -- runs only in Deno

/**
 * The helper process: restricts itself, then executes the command. It is a separate process because the restrictions
 * cannot be lifted.
 *
 * It reads a {@linkcode ConfinedLaunch} from standard input. When a part of the policy cannot be enforced, the command
 * does not run: the helper prints the reason and exits with {@linkcode NOT_CONFINED_EXIT_CODE}.
 *
 * @module
 */

import type { ConfinedLaunch, ConfinementPolicy, KernelSupport } from "./confinement_policy.ts";
import { PIPED_ARGUMENT, PROBE_ARGUMENT, PROBE_MOUNTS_ARGUMENT } from "./exec_protocol.ts";
import {
  encodePathRule,
  encodePortRule,
  encodeRulesetAttributes,
  getReadRights,
  getWriteRights,
  LISTING_RIGHT,
} from "./landlock.ts";
import { getAddress, getErrno, type Libc, loadLibc, toCString, toCStringArray } from "./libc.ts";
import { canMount, enterNamespaces, protectPaths } from "./mount_namespace.ts";
import { type Architecture, createSeccompFilter, type SocketRules } from "./seccomp_filter.ts";

/** Exit code of a helper that could not confine itself or execute the command. */
export const NOT_CONFINED_EXIT_CODE = 125;

const LANDLOCK_CREATE_RULESET = 444n;
const LANDLOCK_ADD_RULE = 445n;
const LANDLOCK_RESTRICT_SELF = 446n;
const CLOSE_RANGE = 436n;

const LANDLOCK_CREATE_RULESET_VERSION = 1n;
const LANDLOCK_RULE_PATH_BENEATH = 1n;
const LANDLOCK_RULE_NET_PORT = 2n;
const CLOSE_RANGE_CLOEXEC = 4n;

const PR_GET_SECCOMP = 21;
const PR_SET_SECCOMP = 22;
const PR_CAPBSET_DROP = 24;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4n;
const SECCOMP_MODE_FILTER = 2n;

const O_RDWR = 2;
const O_NOFOLLOW = 0o400000;
const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;

const SIGPIPE = 13;
const SIG_SETMASK = 2;

/** Runs the helper: executes the command, or exits. */
export function confinedExecMain(args: readonly string[]): never {
  try {
    const libc = loadLibc();
    if (args[0] === PROBE_ARGUMENT) {
      writeOutput(JSON.stringify(probeKernel(libc)));
      Deno.exit(0);
    }
    if (args[0] === PROBE_MOUNTS_ARGUMENT) {
      writeOutput(JSON.stringify(canMount(libc)));
      Deno.exit(0);
    }
    const isPiped = args[0] === PIPED_ARGUMENT;
    const launch: ConfinedLaunch = JSON.parse(isPiped ? readPreamble() : readStdin());
    if (!isPiped) redirectStreams(libc);
    prepareProcess(libc);
    isolate(libc, launch);
    enforcePolicy(libc, launch.policy);
    execCommand(libc, launch);
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    const message = error instanceof ExecError
      ? `${reason}\n`
      : `Cannot set up the sandbox: ${reason}\n`;
    // The standard output of a program whose streams are piped has a format of its own.
    if (args[0] === PIPED_ARGUMENT) Deno.stderr.writeSync(new TextEncoder().encode(message));
    else writeOutput(message);
    Deno.exit(NOT_CONFINED_EXIT_CODE);
  }
}

function writeOutput(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

function probeKernel(libc: Libc): KernelSupport {
  const seccomp = libc.prctl(PR_GET_SECCOMP, 0n, 0n, 0n, 0n) >= 0;
  return {
    landlock: getLandlockVersion(libc),
    seccomp: seccomp && getArchitecture() !== undefined,
    mounts: enterNamespaces(libc) ? "direct" : "none",
  };
}

function getLandlockVersion(libc: Libc): number {
  const version = libc.syscall(
    LANDLOCK_CREATE_RULESET,
    0n,
    0n,
    LANDLOCK_CREATE_RULESET_VERSION,
    0n,
  );
  return Math.max(Number(version), 0);
}

function getArchitecture(): Architecture | undefined {
  const { arch } = Deno.build;
  return arch === "x86_64" || arch === "aarch64" ? arch : undefined;
}

function readStdin(): string {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const chunk = new Uint8Array(64 * 1024);
    const length = Deno.stdin.readSync(chunk);
    if (length === null) break;
    chunks.push(chunk.subarray(0, length));
  }
  const decoder = new TextDecoder();
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
}

const NEWLINE = 10;

/** Reads a request and no byte of the input that follows, which is for the program. */
function readPreamble(): string {
  let length = "";
  for (;;) {
    const [digit = NEWLINE] = readExactly(1);
    if (digit === NEWLINE) break;
    length += String.fromCharCode(digit);
  }
  return new TextDecoder().decode(readExactly(Number(length)));
}

function readExactly(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let offset = 0; offset < length;) {
    const count = Deno.stdin.readSync(bytes.subarray(offset));
    if (count === null) throw new Error("its request is incomplete");
    offset += count;
  }
  return bytes;
}

/** Redirects stdin from `/dev/null` and stderr to stdout. */
function redirectStreams(libc: Libc): void {
  const nullDevice = libc.open(toCString("/dev/null"), O_RDWR);
  libc.dup2(nullDevice, 0);
  libc.dup2(1, 2);
}

/** Closes descriptors other than the standard streams on exec, and resets signals. */
function prepareProcess(libc: Libc): void {
  libc.syscall(CLOSE_RANGE, 3n, 0xffffffffn, CLOSE_RANGE_CLOEXEC, 0n);
  // Deno ignores SIGPIPE, and a started program would inherit that.
  libc.signal(SIGPIPE, 0n);
  libc.sigprocmask(SIG_SETMASK, new Uint8Array(128), null);
}

/** Enters namespaces, protects paths, and enters the working directory again, which may lie in a protected one. */
function isolate(libc: Libc, { mounts, policy, cwd }: ConfinedLaunch): void {
  if (mounts === "none") return;
  if (mounts === "direct") checkResult(libc, "namespaces", enterNamespaces(libc) ? 0 : -1);
  if (policy.readOnly.length === 0 && policy.masked.length === 0) return;
  protectPaths(libc, policy);
  checkResult(libc, "the working directory", libc.chdir(toCString(cwd)));
}

function enforcePolicy(libc: Libc, policy: ConfinementPolicy): void {
  dropCapabilities(libc);
  checkResult(libc, "no_new_privs", libc.prctl(PR_SET_NO_NEW_PRIVS, 1n, 0n, 0n, 0n));
  restrictFiles(libc, policy);
  installSeccompFilter(libc, policy);
}

/**
 * Capabilities that the superuser keeps: those over files and users, for installers. The others (modules, mounts, raw
 * devices, tracing, the clock) are dropped. Other users have no capabilities.
 */
const KEPT_CAPABILITIES: ReadonlySet<number> = new Set([
  0, // CHOWN
  1, // DAC_OVERRIDE
  3, // FOWNER
  4, // FSETID
  5, // KILL
  6, // SETGID
  7, // SETUID
]);

/** Upper bound for the number of capabilities; dropping an unknown one fails without effect. */
const CAPABILITY_COUNT = 64;

function dropCapabilities(libc: Libc): void {
  clearInheritedCapabilities(libc);
  for (let capability = 0; capability < CAPABILITY_COUNT; capability++) {
    if (KEPT_CAPABILITIES.has(capability)) continue;
    libc.prctl(PR_CAPBSET_DROP, BigInt(capability), 0n, 0n, 0n);
  }
}

/** Version 3 of `struct __user_cap_header_struct`, and the offsets of the inheritable sets in the data. */
const CAPABILITY_HEADER = new Uint8Array([0x22, 0x05, 0x08, 0x20, 0, 0, 0, 0]);
const INHERITABLE_OFFSETS = [8, 20];

/** Clears the capabilities that a program would inherit: all, if the helper was started in a user namespace. */
function clearInheritedCapabilities(libc: Libc): void {
  libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0n, 0n, 0n);
  const sets = new Uint8Array(24);
  checkResult(libc, "capget", libc.capget(CAPABILITY_HEADER, sets));
  for (const offset of INHERITABLE_OFFSETS) sets.fill(0, offset, offset + 4);
  checkResult(libc, "capset", libc.capset(CAPABILITY_HEADER, sets));
}

function restrictFiles(libc: Libc, policy: ConfinementPolicy): void {
  const version = getLandlockVersion(libc);
  if (version === 0) return;
  const attributes = encodeRulesetAttributes(version, policy.network);
  const ruleset = libc.syscallBuffer(
    LANDLOCK_CREATE_RULESET,
    attributes,
    BigInt(attributes.length),
    0n,
    0n,
  );
  checkResult(libc, "landlock_create_ruleset", ruleset);
  addPathRule(libc, { ruleset, path: "/", getRights: () => LISTING_RIGHT });
  for (const path of policy.readable) {
    addPathRule(libc, { ruleset, path, getRights: getReadRights });
  }
  const getRights = (isDirectory: boolean) => getWriteRights(isDirectory, version);
  for (const path of policy.writable) addPathRule(libc, { ruleset, path, getRights });
  if (policy.network.type === "proxy" && version >= 4) {
    const rule = encodePortRule(policy.network.port);
    const added = libc.syscallRule(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_NET_PORT, rule, 0n);
    checkResult(libc, "landlock_add_rule for the proxy", added);
  }
  checkResult(
    libc,
    "landlock_restrict_self",
    libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0n, 0n, 0n),
  );
}

interface PathRule {
  readonly ruleset: bigint;
  readonly path: string;
  readonly getRights: (isDirectory: boolean) => number;
}

/** Grants rights to a path; a missing path or a link is skipped. */
function addPathRule(libc: Libc, { ruleset, path, getRights }: PathRule): void {
  const flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  const descriptor = libc.open(toCString(path), flags);
  if (descriptor < 0) return;
  // The kernel refuses directory rights on a file.
  const add = (isDirectory: boolean) =>
    libc.syscallRule(
      LANDLOCK_ADD_RULE,
      ruleset,
      LANDLOCK_RULE_PATH_BENEATH,
      encodePathRule(getRights(isDirectory), descriptor),
      0n,
    );
  if (add(true) < 0n) add(false);
  libc.close(descriptor);
}

function installSeccompFilter(
  libc: Libc,
  { network, unixSockets, keepsAttributes = false }: ConfinementPolicy,
): void {
  const architecture = getArchitecture();
  if (!architecture || libc.prctl(PR_GET_SECCOMP, 0n, 0n, 0n, 0n) < 0) return;
  const sockets: Record<typeof network.type, SocketRules["sockets"]> = {
    off: "none",
    on: "ip",
    proxy: "tcp",
  };
  const filter = new Uint8Array(
    createSeccompFilter(architecture, {
      sockets: sockets[network.type],
      unixSockets,
      keepsAttributes,
    }),
  );
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, filter.length / 8, true);
  program.setBigUint64(8, getAddress(filter), true);
  checkResult(
    libc,
    "the seccomp filter",
    libc.prctlBuffer(
      PR_SET_SECCOMP,
      SECCOMP_MODE_FILTER,
      new Uint8Array(program.buffer),
      0n,
      0n,
    ),
  );
}

function execCommand(libc: Libc, { argv, env }: ConfinedLaunch): never {
  const [program = ""] = argv;
  const args = toCStringArray(argv);
  const environment = toCStringArray(
    Object.entries(env).map(([name, value]) => `${name}=${value}`),
  );
  libc.execve(toCString(program), args.array, environment.array);
  const errno = getErrno(libc);
  throw new ExecError(`${program} cannot be executed: ${EXEC_ERRORS[errno] ?? `errno ${errno}`}`);
}

/** The sandbox is set up, and the program cannot be executed. */
class ExecError extends Error {
  override readonly name = "ExecError";
}

/** Messages of the usual errors of `execve()` on Linux. */
const EXEC_ERRORS: Readonly<Record<number, string>> = {
  2: "no such file or directory",
  8: "it is no program, or one for another kind of processor",
  13: "permission denied",
};

function checkResult(libc: Libc, call: string, result: number | bigint): void {
  if (result < 0) throw new Error(`the kernel refused ${call} (errno ${getErrno(libc)})`);
}

if (import.meta.main) confinedExecMain(Deno.args);
