/**
 * The sandbox: the one door through which tools reach files and commands.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import {
  createCommandEnvironment,
  readEnvironmentVariable,
} from "../process/command_environment.ts";
import {
  confineLaunch,
  type ConfinementRules,
  findConfinement,
  toConfinedNetwork,
} from "../confinement/confinement.ts";
import { type Confinement, HARMLESS_DEVICES } from "../confinement/confinement.ts";
import { toFileError } from "../files/file_error.ts";
import { createFileRules, PROTECTED_FILES } from "../files/file_rules.ts";
import { type HostProxy, startHostProxy } from "./host_proxy.ts";
import { join } from "../files/paths.ts";
import { PrivateDirectory } from "./private_directory.ts";
import { listReadablePaths, resolveHiddenPaths } from "../confinement/readable_paths.ts";
import { type Launch, type RunningProcess, startProcess } from "../process/running_process.ts";
import { ConfinedFiles, type SandboxFiles } from "./sandbox_files.ts";
import { createSandboxReport, type SandboxReport } from "./sandbox_report.ts";
import { createShellLaunch } from "../process/shell_command.ts";
import { killOrphanProcesses, MARK_VARIABLE } from "../process/orphan_processes.ts";

/** What of the network commands may use: nothing, everything, or the named hosts (`example.org`, `*.example.org`). */
export type SandboxNet = "on" | "off" | readonly string[];

/** What {@linkcode createSandbox} is told. */
export interface SandboxOptions {
  /** The working directory: files may be read and written in it and below. Default: the current directory. */
  readonly cwd?: string;
  /** More folders that may be read and written. */
  readonly writeRoots?: readonly string[];
  /** More folders that the file tools may read. */
  readonly readRoots?: readonly string[];
  /** Globs of files that no file tool touches; `!` makes an exception. Default: {@linkcode PROTECTED_FILES}. */
  readonly protect?: readonly string[];
  /** More files and folders that commands cannot read, beside the usual places of keys in the home folder. */
  readonly hide?: readonly string[];
  /** What of the network commands may use. Default: `"off"`. */
  readonly net?: SandboxNet;
  /** Whether commands may use Unix sockets, and so talk to daemons that are not confined. Default: `false`. */
  readonly unixSockets?: boolean;
  /**
   * Whether commands are confined by the kernel. `auto`: as far as this machine can, see
   * {@linkcode Sandbox.describe}; `required`: no command runs where it cannot; `off`: never. Default: `auto`.
   */
  readonly confinement?: "auto" | "required" | "off";
  /** More variables of this program's environment that commands may see. */
  readonly passEnvironment?: readonly string[];
  /** Variables that commands get. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A shell command that was started. */
export interface SandboxCommand {
  /** The process. */
  readonly process: RunningProcess;
  /**
   * To be called when the process has ended: ends what it left behind, and tells the folder in which the shell
   * ended, where it could tell.
   */
  finish(): Promise<{ readonly workingDirectory?: string }>;
}

/** Where tools act. Make one with {@linkcode createSandbox}, or bring your own. */
export interface Sandbox extends AsyncDisposable {
  /** The working directory, canonical. */
  readonly root: string;
  /** The files. */
  readonly files: SandboxFiles;
  /** Starts a shell command. @throws {BadRequestError} When it has to be confined and cannot be. */
  startCommand(command: string, options?: { readonly cwd?: string }): Promise<SandboxCommand>;
  /** Starts a program of this machine that is trusted, such as `rg`, without a shell and not confined. */
  startProgram(program: string, args: readonly string[]): RunningProcess;
  /** A file of this sandbox that the file tools can read and no command can write; its folder exists. */
  getOutputPath(name: string): Promise<string>;
  /** What of the network commands may use. */
  readonly net: SandboxNet;
  /** Changes what of the network the next commands may use. */
  setNet(net: SandboxNet): void;
  /** What is enforced by the kernel, what by this program, and what by nobody. */
  describe(): Promise<SandboxReport>;
}

/**
 * Makes a sandbox over the file system and the processes of this machine. Nothing is written before it is used;
 * dispose of it at the end, so that what still runs and its temporary folder go.
 *
 * @throws {BadRequestError} When the working directory is not a folder.
 *
 * @example
 * ```ts
 * import { createSandbox } from "@swink/agent/tools";
 *
 * await using sandbox = createSandbox({ cwd: Deno.cwd(), net: ["api.example.com"] });
 * const { summary } = await sandbox.describe(); // "commands confined by Landlock 7 and seccomp, …"
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return new LocalSandbox(options);
}

/** What is still running when a sandbox is disposed of gets this long to end by itself. */
const DISPOSE_GRACE_MS = 200;

class LocalSandbox implements Sandbox {
  readonly root: string;
  readonly files: SandboxFiles;
  readonly #directory = new PrivateDirectory();
  readonly #options: SandboxOptions;
  readonly #writable: readonly string[];
  #net: SandboxNet;
  readonly #running = new Map<RunningProcess, string>();
  #proxy: { readonly server: HostProxy; readonly hosts: readonly string[] } | undefined;

  constructor(options: SandboxOptions) {
    const { writeRoots = [], readRoots = [], protect = PROTECTED_FILES, net = "off" } = options;
    this.#options = options;
    this.#net = net;
    this.root = resolveDirectory(options.cwd ?? Deno.cwd());
    const { temporary, caches, output } = this.#directory;
    const write = [this.root, ...writeRoots.map(resolveDirectory), temporary];
    const read = [output, ...readRoots.map(resolveDirectory)];
    this.files = new ConfinedFiles(this.root, createFileRules({ write, read }, protect));
    this.#writable = [...write, caches, ...HARMLESS_DEVICES];
  }

  get net(): SandboxNet {
    return this.#net;
  }

  setNet(net: SandboxNet): void {
    this.#net = net;
  }

  async startCommand(
    command: string,
    { cwd = this.root }: { readonly cwd?: string } = {},
  ): Promise<SandboxCommand> {
    await this.#directory.create();
    const mark = crypto.randomUUID();
    const folderFile = join(this.#directory.temporary, `.cwd-${mark}`);
    const proxy = await this.#ensureProxy(this.#net);
    const env = this.#createEnvironment({ ...createProxyVariables(proxy), [MARK_VARIABLE]: mark });
    const launch = createShellLaunch(command, { cwd, env, directoryFile: folderFile });
    const process = startProcess(await this.#confineLaunch(launch, proxy));
    this.#running.set(process, mark);
    void process.exited.then(() => this.#running.delete(process));
    return {
      process,
      finish: async () => {
        await killOrphanProcesses(mark);
        const workingDirectory = await readWorkingDirectory(folderFile);
        return workingDirectory === undefined ? {} : { workingDirectory };
      },
    };
  }

  async #confineLaunch(launch: Launch, proxy: HostProxy | undefined): Promise<Launch> {
    const confinement = await this.#findConfinement();
    if (this.#options.confinement === "required") {
      const { confined: isConfined, summary } = await this.describe();
      if (!isConfined) throw new BadRequestError(`No command runs here: ${summary}`);
    }
    return confineLaunch(launch, confinement, this.#createConfinementRules(proxy));
  }

  #createConfinementRules(proxy: HostProxy | undefined): ConfinementRules {
    const { hide = [], unixSockets = false } = this.#options;
    const hidden = resolveHiddenPaths(readEnvironmentVariable("HOME"), hide);
    return {
      writable: this.#writable,
      readable: listReadablePaths(hidden),
      hidden,
      network: toConfinedNetwork(this.#net, proxy?.port),
      unixSockets,
    };
  }

  #findConfinement(): Promise<Confinement> {
    if (this.#options.confinement !== "off") return findConfinement();
    return Promise.resolve({ type: "none", reason: "confinement is switched off" });
  }

  /** One proxy at a time; another list of hosts gets another one. */
  async #ensureProxy(net: SandboxNet): Promise<HostProxy | undefined> {
    if (typeof net === "string") return undefined;
    if (this.#proxy?.hosts !== net) {
      await this.#proxy?.server[Symbol.asyncDispose]();
      this.#proxy = { server: startHostProxy({ hosts: net }), hosts: net };
    }
    return this.#proxy.server;
  }

  startProgram(program: string, args: readonly string[]): RunningProcess {
    return startProcess({ program, args, cwd: this.root, env: this.#createEnvironment({}) });
  }

  async getOutputPath(name: string): Promise<string> {
    await this.#directory.create();
    return join(this.#directory.output, name);
  }

  async describe(): Promise<SandboxReport> {
    const { root } = this;
    const { unixSockets = false } = this.#options;
    const reported = { root, writable: this.#writable, net: this.#net, unixSockets };
    return createSandboxReport(reported, await this.#findConfinement());
  }

  #createEnvironment(set: Readonly<Record<string, string>>): Record<string, string> {
    const { passEnvironment = [], environment = {} } = this.#options;
    const { temporary, caches } = this.#directory;
    const own = {
      TMPDIR: temporary,
      ...createCacheVariables(caches),
      DENO_DIR: this.#getDenoDirectory(),
    };
    return createCommandEnvironment({ passEnvironment, set: { ...own, ...environment, ...set } });
  }

  /** Deno is content to read its cache; without a network it could not fill another one. */
  #getDenoDirectory(): string {
    const { caches } = this.#directory;
    if (this.#net !== "off") return join(caches, "deno");
    return getDefaultDenoDirectory() ?? join(caches, "deno");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running].map(async ([process, mark]) => {
      await process.terminate(DISPOSE_GRACE_MS);
      await killOrphanProcesses(mark);
    }));
    await this.#proxy?.server[Symbol.asyncDispose]();
    await this.#directory.remove();
  }
}

/** Where common programs keep what they fetch and compile; the usual places may not be written. */
function createCacheVariables(folder: string): Record<string, string> {
  return {
    XDG_CACHE_HOME: folder,
    npm_config_cache: join(folder, "npm"),
    PYTHONPYCACHEPREFIX: join(folder, "pycache"),
  };
}

function getDefaultDenoDirectory(): string | undefined {
  const own = readEnvironmentVariable("DENO_DIR");
  if (own !== undefined) return own;
  const cache = readEnvironmentVariable("XDG_CACHE_HOME");
  if (cache !== undefined) return join(cache, "deno");
  const home = readEnvironmentVariable("HOME");
  const caches = Deno.build.os === "darwin" ? "Library/Caches" : ".cache";
  return home === undefined ? undefined : join(home, caches, "deno");
}

/** Programs learn of a proxy by these names, in either case. */
function createProxyVariables(proxy: HostProxy | undefined): Record<string, string> {
  if (!proxy) return {};
  const address = `http://127.0.0.1:${proxy.port}`;
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
  return Object.fromEntries(
    names.flatMap((name) => [[name, address], [name.toLowerCase(), address]]),
  );
}

function resolveDirectory(path: string): string {
  try {
    const canonical = Deno.realPathSync(path);
    if (Deno.statSync(canonical).isDirectory) return canonical;
  } catch (error) {
    throw toFileError(path, error);
  }
  throw new BadRequestError(`The working directory ${JSON.stringify(path)} is not a folder`);
}

/** Reads where a shell ended, and removes the note. What is no folder (any more) is not believed. */
async function readWorkingDirectory(file: string): Promise<string | undefined> {
  try {
    const folder = (await Deno.readTextFile(file)).replace(/\n$/, "");
    await Deno.remove(file);
    return (await Deno.stat(folder)).isDirectory ? folder : undefined;
  } catch {
    return undefined;
  }
}
