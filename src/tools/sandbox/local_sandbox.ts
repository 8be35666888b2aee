/**
 * The sandbox over the file system and processes of this machine.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type {
  ProcessLaunch,
  ProcessSpawner,
  SpawnedProcess,
} from "../../core/ports/process_spawner.ts";
import { join } from "../../platform/paths.ts";
import { PROTECTED_FILES } from "../../platform/secret_places.ts";
import { type PipedLaunch, spawnProcess } from "../../platform/spawn_process.ts";
import { system } from "../../platform/system.ts";
import { getTrustedPath } from "../../platform/trusted_path.ts";
import { noteWritableDirectory } from "../../platform/writable_directories.ts";
import {
  canProtectPaths,
  confineLaunch,
  type Confinement,
  type ConfinementRules,
  confinePipedLaunch,
  DEVICE_DIRECTORY,
  findConfinement,
  toConfinedNetwork,
  WRITABLE_DEVICES,
} from "../confinement/confinement.ts";
import { listReadablePaths, resolveHiddenPaths } from "../confinement/readable_paths.ts";
import { createFileRules } from "../files/file_rules.ts";
import { followGlobLinks } from "../files/linked_globs.ts";
import { readEnvironmentVariable } from "../process/command_environment.ts";
import { killOrphanProcesses, MARK_VARIABLE } from "../process/orphan_processes.ts";
import { type Launch, type RunningProcess, startProcess } from "../process/running_process.ts";
import { createShellLaunch } from "../process/shell_command.ts";
import { checkNet, checkSandboxOptions } from "./check_options.ts";
import { ConfinedFiles } from "./confined_files.ts";
import type { FindSecretFilesOptions, SecretFiles } from "./find_secret_files.ts";
import { type GitSettingsRecord, recordGitSettings } from "./git_settings.ts";
import { containsHome } from "./home_directory.ts";
import type { HostProxy } from "./host_proxy.ts";
import {
  refuseContradictions,
  refuseHome,
  resolveDirectory,
  toHiddenPath,
} from "./option_paths.ts";
import { PrivateDirectory } from "./private_directory.ts";
import type { FinishedCommand, Sandbox, SandboxCommand, SandboxNet } from "./sandbox.ts";
import {
  createLocationVariables,
  createProxyVariables,
  createSandboxEnvironment,
} from "./sandbox_environment.ts";
import type { SandboxFiles } from "./sandbox_files.ts";
import type { SandboxOptions } from "./sandbox_options.ts";
import { createSandboxReport, type SandboxReport } from "./sandbox_report.ts";
import { readWorkingDirectory } from "./working_directory_file.ts";

/**
 * Creates a sandbox on this machine. Nothing is written before its first use. Disposing it ends running commands and
 * programs, and removes its temporary directory.
 *
 * @throws {BadRequestError} When the working directory or a root is not a directory, or contains the home directory, or
 * when another option has a wrong value, contradicts `readOnly` or does not exist.
 *
 * @example
 * ```ts
 * import { createSandbox } from "@swink/agent/tools";
 *
 * await using sandbox = createSandbox({ cwd: Deno.cwd(), net: ["api.example.com"] });
 * const { summary } = await sandbox.describe(); // "commands confined by Landlock 7 and seccomp, …"
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox & ProcessSpawner {
  return new LocalSandbox(options);
}

/** A trusted program to start. */
export interface TrustedProgram {
  /** Name of the program, which is looked up in the directories of `PATH` that commands cannot write. */
  readonly program: string;
  /** Arguments of the program. */
  readonly args: readonly string[];
  /** Working directory. Default: the root of the sandbox. */
  readonly cwd?: string | undefined;
}

/**
 * Starts a trusted program such as `rg`, without a shell and not confined. Returns `undefined` for a sandbox that
 * {@linkcode createSandbox} did not create.
 *
 * @throws {Error} The error of the system, when the program is not installed.
 */
export function startTrustedProgram(
  sandbox: Sandbox,
  program: TrustedProgram,
): RunningProcess | undefined {
  return sandbox instanceof LocalSandbox ? sandbox.startProgram(program) : undefined;
}

/** Lists the existing paths that commands may not read; none for a sandbox that {@linkcode createSandbox} did not create. */
export function listHiddenPaths(sandbox: Sandbox): readonly string[] {
  return sandbox instanceof LocalSandbox ? sandbox.listHidden() : [];
}

/** Lists the directories that commands can write: at least the root of a sandbox that createSandbox() did not create. */
export function listWritableDirectories(sandbox: Sandbox): readonly string[] {
  return sandbox instanceof LocalSandbox ? sandbox.untrusted : [sandbox.root];
}

/**
 * Starts a program with the rights of commands, without a network, and lets it write a directory: a command that runs at the
 * same time could replace a directory by a link to files that it may not read itself.
 */
export async function startLimitedProgram(
  sandbox: Sandbox,
  launch: Launch,
  options: { readonly directory: string },
): Promise<RunningProcess> {
  if (!(sandbox instanceof LocalSandbox)) return startProcess(launch);
  return startProcess(await sandbox.limit(launch, options.directory));
}

/** Time between SIGTERM and SIGKILL for commands that still run when the sandbox is disposed. */
const DISPOSE_GRACE_MS = 200;

type FindSecretsOptions = Pick<FindSecretFilesOptions, "skipped" | "signal">;

/** The rules of a command, the settings of git before it, and the files that it cannot read. */
interface PreparedCommand {
  readonly rules: ConfinementRules;
  readonly settings: GitSettingsRecord;
  readonly secrets: SecretFiles;
}

const NO_SECRETS: SecretFiles = { secrets: [], unsearched: [], unreadable: [] };

class LocalSandbox implements Sandbox, ProcessSpawner {
  readonly root: string;
  readonly readOnly: boolean;
  readonly files: SandboxFiles;
  readonly #directory: PrivateDirectory;
  readonly #options: SandboxOptions;
  readonly #writable: readonly string[];
  /** Directories that commands can write, also those of another sandbox if this one is read-only. */
  readonly untrusted: readonly string[];
  readonly #hidden: readonly string[];
  /** Directories whose repositories keep their settings. */
  readonly #projects: readonly string[];
  /** Finds the files that a command that is started now cannot read. */
  readonly #findSecrets: (options: FindSecretsOptions) => Promise<SecretFiles>;
  #net: SandboxNet;
  /** Running processes and their marks. */
  readonly #running = new Map<Pick<RunningProcess, "terminate">, string>();
  /** Functions that restore the settings of git after the commands that have not been finished, by their marks. */
  readonly #unfinished = new Map<string, () => Promise<readonly string[]>>();
  readonly #finishing = new Set<Promise<unknown>>();
  #isDisposed = false;
  #proxy: { readonly server: HostProxy; readonly hosts: readonly string[] } | undefined;

  constructor(options: SandboxOptions) {
    checkSandboxOptions(options);
    const { writeRoots = [], readRoots = [], protect = PROTECTED_FILES, net = "off" } = options;
    const { readOnly = false } = options;
    if (readOnly) refuseContradictions(options);
    this.#options = options;
    this.#net = net;
    this.readOnly = readOnly;
    this.root = resolveDirectory(options.cwd ?? system.cwd());
    this.#hidden = (options.hide ?? []).map((path) => toHiddenPath(path, this.root));
    const roots = [this.root, ...writeRoots.map(resolveDirectory)];
    this.#directory = new PrivateDirectory(roots);
    const { temporary, caches, output } = this.#directory;
    this.untrusted = [...roots, temporary, caches];
    this.#projects = readOnly ? [] : roots;
    if (options.homeAccess !== "allow") this.#projects.forEach(refuseHome);
    const write = readOnly ? [] : [...roots, temporary];
    const read = [...roots, output, ...readRoots.map(resolveDirectory)];
    const globs = protect === PROTECTED_FILES ? protect : followGlobLinks(protect, roots);
    const rules = createFileRules({ write, read }, globs);
    this.files = new ConfinedFiles(this.root, rules);
    const isProtected = protect === PROTECTED_FILES
      ? undefined
      : (path: string) => rules(path, "read") === "protected";
    const searched = read.filter((path) => path !== output);
    this.#findSecrets = readOnly
      ? async (options) => {
        const { findSecretFiles } = await import("./find_secret_files.ts");
        return await findSecretFiles(searched, { ...options, isProtected });
      }
      : () => Promise.resolve(NO_SECRETS);
    this.#writable = [...write, ...(readOnly ? [] : [caches]), ...WRITABLE_DEVICES];
    this.#projects.forEach(noteWritableDirectory);
  }

  get hidesSecrets(): boolean {
    return this.readOnly;
  }

  get net(): SandboxNet {
    return this.#net;
  }

  setNet(net: SandboxNet): void {
    checkNet(net);
    if (this.readOnly) refuseContradictions({ net });
    this.#net = net;
  }

  async startCommand(
    command: string,
    { cwd = this.root, signal }: { readonly cwd?: string; readonly signal?: AbortSignal } = {},
  ): Promise<SandboxCommand> {
    this.#refuseIfDisposed();
    await this.#directory.create();
    const mark = crypto.randomUUID();
    const directoryFile = join(this.#directory.temporary, `.cwd-${mark}`);
    const proxy = await this.#ensureProxy(this.#net);
    const env = this.#createEnvironment({
      ...(proxy && createProxyVariables(proxy.port)),
      [MARK_VARIABLE]: mark,
    });
    const launch = createShellLaunch(command, {
      cwd,
      env,
      ...(!this.readOnly && { directoryFile }),
    });
    await this.#requireConfinement();
    const confinement = await this.#findConfinement();
    const { rules, settings, secrets } = await this.#prepare(proxy, signal);
    const process = startProcess(confineLaunch(launch, confinement, rules));
    const withheld = canProtectPaths(confinement) ? settings.paths : [];
    this.#running.set(process, mark);
    this.#unfinished.set(mark, () => settings.restore({ withheld }));
    void process.exited.then(() => this.#running.delete(process));
    return {
      ...process,
      ...(this.readOnly && { hidden: secrets }),
      finish: () => this.#track(this.#finish(mark, directoryFile)),
    };
  }

  /** Kills the processes that a command has left, restores the settings of git, and reads its working directory. */
  async #finish(mark: string, directoryFile: string): Promise<FinishedCommand> {
    // The disposal finishes the commands that are left, whose tools may see their end later.
    if (this.#isDisposed) return {};
    await killOrphanProcesses(mark);
    const restoredFiles = await this.#unfinished.get(mark)?.() ?? [];
    this.#unfinished.delete(mark);
    const workingDirectory = await readWorkingDirectory(directoryFile);
    return {
      ...(workingDirectory !== undefined && { workingDirectory }),
      ...(restoredFiles.length > 0 && { restoredFiles }),
    };
  }

  /** Whether the kernel enforces that a program which is started now has no network. */
  async isOffline(): Promise<boolean> {
    return this.#net === "off" && (await this.describe()).confined;
  }

  /**
   * Starts a program under the rules for commands. Settings of git are only withheld as far as the kernel can do that:
   * a server runs for hours, and undoing its changes would undo those of the user, too.
   */
  async spawn({ program, args, cwd = this.root, env }: ProcessLaunch): Promise<SpawnedProcess> {
    this.#refuseIfDisposed();
    await this.#directory.create();
    const mark = crypto.randomUUID();
    const proxy = await this.#ensureProxy(this.#net);
    const locations = createLocationVariables(this.#directory, this.#net);
    const environment = {
      ...locations,
      ...(proxy && createProxyVariables(proxy.port)),
      ...env,
      [MARK_VARIABLE]: mark,
    };
    await this.#requireConfinement();
    const confinement = await this.#findConfinement();
    const { rules } = await this.#prepare(proxy);
    const process = await this.#track(this.#startPiped(
      confinePipedLaunch({ program, args, cwd, env: environment }, confinement, rules),
      mark,
    ));
    void this.#track(process.exited.then(async () => {
      this.#running.delete(process);
      await killOrphanProcesses(mark);
    }));
    return process;
  }

  /** Starts a piped program, whose start takes until it has read its request. */
  async #startPiped(launch: PipedLaunch, mark: string): Promise<SpawnedProcess> {
    const process = await spawnProcess(launch);
    if (this.#isDisposed) {
      await process.terminate(DISPOSE_GRACE_MS);
      await killOrphanProcesses(mark);
    }
    this.#refuseIfDisposed();
    this.#running.set(process, mark);
    return process;
  }

  /** Throws after the disposal, which nothing that still starts may outlive. */
  #refuseIfDisposed(): void {
    if (this.#isDisposed) throw new BadRequestError("The sandbox has been disposed of");
  }

  /** Makes disposal wait for a promise. */
  #track<T>(promise: Promise<T>): Promise<T> {
    this.#finishing.add(promise);
    return promise.finally(() => this.#finishing.delete(promise));
  }

  /** Throws if confinement is required, and this machine cannot enforce all rules. */
  async #requireConfinement(): Promise<void> {
    if (this.#options.confinement !== "required" && !this.readOnly) return;
    const { confined, summary } = await this.describe();
    if (confined) return;
    throw new BadRequestError(
      `The command cannot run: the sandbox requires confinement, but this machine cannot enforce all of its rules (${summary})`,
    );
  }

  /** Prepares the rules of a command that starts now. */
  async #prepare(proxy: HostProxy | undefined, signal?: AbortSignal): Promise<PreparedCommand> {
    const { unixSockets = false } = this.#options;
    this.#projects.forEach(noteWritableDirectory);
    const usual = resolveHiddenPaths(readEnvironmentVariable("HOME"), this.#hidden);
    const secrets = await this.#findSecrets({ skipped: usual, signal });
    this.#refuseIfDisposed();
    const settings = recordGitSettings(this.#projects);
    const hidden = [
      ...usual,
      ...secrets.secrets,
      ...secrets.unsearched,
      ...secrets.unreadable,
    ];
    const rules: ConfinementRules = {
      ...this.#createFileRules(hidden),
      readOnly: settings.paths,
      network: toConfinedNetwork(this.#net, proxy?.port),
      unixSockets,
      keepsAttributes: this.readOnly,
    };
    return { rules, settings, secrets };
  }

  #createFileRules(
    hidden: readonly string[],
  ): Pick<ConfinementRules, "writable" | "readable" | "hidden"> {
    const readable = listReadablePaths([...hidden, DEVICE_DIRECTORY]);
    return { writable: this.#writable, readable, hidden };
  }

  /** Confines a program by the rules for commands, and lets it write a directory. */
  async limit(launch: Launch, directory: string): Promise<Launch> {
    const rules = this.#createFileRules(this.listHidden());
    return confineLaunch(launch, await this.#findConfinement(), {
      ...rules,
      writable: [...rules.writable, directory],
      readOnly: [],
      network: { type: "off" },
      unixSockets: false,
    });
  }

  /** Lists the existing paths that commands may not read. */
  listHidden(): readonly string[] {
    return resolveHiddenPaths(readEnvironmentVariable("HOME"), this.#hidden);
  }

  #findConfinement(): Promise<Confinement> {
    if (this.#options.confinement !== "off") return findConfinement();
    return Promise.resolve({ type: "none", reason: "confinement is turned off" });
  }

  /** Starts the proxy for a list of hosts; another list replaces it. */
  async #ensureProxy(net: SandboxNet): Promise<HostProxy | undefined> {
    if (typeof net === "string") return undefined;
    if (this.#proxy?.hosts !== net) {
      await this.#proxy?.server[Symbol.asyncDispose]();
      const { startHostProxy } = await import("./host_proxy.ts");
      const server = await startHostProxy({ hosts: net });
      if (this.#isDisposed) await server[Symbol.asyncDispose]();
      this.#refuseIfDisposed();
      this.#proxy = { server, hosts: net };
    }
    return this.#proxy.server;
  }

  /** Starts a program without a shell and not confined. */
  startProgram({ program, args, cwd = this.root }: TrustedProgram): RunningProcess {
    const env = this.#createEnvironment({});
    const path = getTrustedPath(env.PATH ?? "", this.untrusted);
    return startProcess({ program, args, cwd, env: { ...env, PATH: path } });
  }

  async getOutputPath(name: string): Promise<string> {
    await this.#directory.create();
    return join(this.#directory.output, name);
  }

  async describe(): Promise<SandboxReport> {
    const { unixSockets = false } = this.#options;
    return createSandboxReport(
      {
        root: this.root,
        writable: this.#writable,
        containsHome: this.#projects.some((directory) => containsHome(directory)),
        net: this.#net,
        unixSockets,
        keepsAttributes: this.readOnly,
        hidesSecrets: this.hidesSecrets,
      },
      await this.#findConfinement(),
    );
  }

  #createEnvironment(set: Readonly<Record<string, string>>): Record<string, string> {
    const { passEnvironment = [], environment = {} } = this.#options;
    return createSandboxEnvironment({
      directory: this.#directory,
      net: this.#net,
      passEnvironment,
      set: { ...environment, ...set },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await Promise.all([...this.#running].map(async ([process, mark]) => {
      await process.terminate(DISPOSE_GRACE_MS);
      await killOrphanProcesses(mark);
    }));
    await Promise.allSettled(this.#finishing);
    for (const [mark, restore] of this.#unfinished) {
      await killOrphanProcesses(mark);
      await restore();
    }
    await this.#proxy?.server[Symbol.asyncDispose]();
    await this.#directory.remove();
  }
}
