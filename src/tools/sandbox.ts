/**
 * The sandbox: the one door through which tools reach files and commands.
 *
 * @module
 */

import { tmpdir } from "node:os";
import { join } from "node:path";
import { BadRequestError } from "../core/errors.ts";
import { commandEnvironment } from "./command_environment.ts";
import { fileFailure } from "./file_failure.ts";
import { fileRules, PROTECTED_FILES } from "./file_rules.ts";
import { type RunningProcess, startProcess } from "./running_process.ts";
import { ConfinedFiles, type SandboxFiles } from "./sandbox_files.ts";
import { shellLaunch } from "./shell_command.ts";
import { endStrays, MARK_VARIABLE } from "./stray_processes.ts";

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
  /** Starts a shell command. */
  startCommand(command: string, options?: { readonly cwd?: string }): Promise<SandboxCommand>;
  /** Starts a program of this machine that is trusted, such as `rg`, without a shell. */
  startProgram(program: string, args: readonly string[]): RunningProcess;
  /** A file of this sandbox that the file tools can read and nothing else writes; its folder exists. */
  outputFile(name: string): Promise<string>;
}

/**
 * Makes a sandbox over the file system and the processes of this machine. Nothing is written before it is used.
 *
 * @throws {BadRequestError} When the working directory is not a folder.
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return new LocalSandbox(options);
}

class LocalSandbox implements Sandbox {
  readonly root: string;
  readonly files: SandboxFiles;
  readonly #folder: PrivateFolder;
  readonly #options: SandboxOptions;

  constructor(options: SandboxOptions) {
    const { writeRoots = [], readRoots = [], protect = PROTECTED_FILES } = options;
    this.#options = options;
    this.root = canonicalFolder(options.cwd ?? Deno.cwd());
    this.#folder = new PrivateFolder();
    const write = [this.root, ...writeRoots.map(canonicalFolder), this.#folder.temporary];
    const read = [this.#folder.output, ...readRoots.map(canonicalFolder)];
    this.files = new ConfinedFiles(this.root, fileRules({ write, read }, protect));
  }

  async startCommand(
    command: string,
    { cwd = this.root }: { readonly cwd?: string } = {},
  ): Promise<SandboxCommand> {
    await this.#folder.make();
    const mark = crypto.randomUUID();
    const folderFile = join(this.#folder.temporary, `.cwd-${mark}`);
    const env = this.#environment({ [MARK_VARIABLE]: mark });
    const process = startProcess(shellLaunch(command, { cwd, env, folderFile }));
    return {
      process,
      finish: async () => {
        endStrays(mark);
        const workingDirectory = await takeFolder(folderFile);
        return workingDirectory === undefined ? {} : { workingDirectory };
      },
    };
  }

  startProgram(program: string, args: readonly string[]): RunningProcess {
    return startProcess({ program, args, cwd: this.root, env: this.#environment({}) });
  }

  async outputFile(name: string): Promise<string> {
    await this.#folder.make();
    return join(this.#folder.output, name);
  }

  #environment(set: Readonly<Record<string, string>>): Record<string, string> {
    const { passEnvironment = [], environment = {} } = this.#options;
    return commandEnvironment({
      passEnvironment,
      set: { TMPDIR: this.#folder.temporary, ...environment, ...set },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder.remove();
  }
}

/** A folder of this sandbox's own, made when it is first needed. */
class PrivateFolder {
  readonly path: string;
  /** Where commands put their temporary files. */
  readonly temporary: string;
  /** Where the whole output of commands is kept. */
  readonly output: string;
  #made: Promise<void> | undefined;

  constructor() {
    this.path = join(canonicalFolder(tmpdir()), `swink-${crypto.randomUUID()}`);
    this.temporary = join(this.path, "tmp");
    this.output = join(this.path, "output");
  }

  make(): Promise<void> {
    this.#made ??= this.#make();
    return this.#made;
  }

  async #make(): Promise<void> {
    await Deno.mkdir(this.path, { mode: 0o700 });
    await Deno.mkdir(this.temporary, { mode: 0o700 });
    await Deno.mkdir(this.output, { mode: 0o700 });
  }

  async remove(): Promise<void> {
    if (!this.#made) return;
    await this.#made.catch(() => {});
    await Deno.remove(this.path, { recursive: true }).catch(() => {});
  }
}

function canonicalFolder(path: string): string {
  try {
    const canonical = Deno.realPathSync(path);
    if (Deno.statSync(canonical).isDirectory) return canonical;
  } catch (error) {
    throw fileFailure(path, error);
  }
  throw new BadRequestError(`The working directory ${JSON.stringify(path)} is not a folder`);
}

/** Reads where a shell ended, and removes the note. What is no folder (any more) is not believed. */
async function takeFolder(file: string): Promise<string | undefined> {
  try {
    const folder = (await Deno.readTextFile(file)).replace(/\n$/, "");
    await Deno.remove(file);
    return (await Deno.stat(folder)).isDirectory ? folder : undefined;
  } catch {
    return undefined;
  }
}
