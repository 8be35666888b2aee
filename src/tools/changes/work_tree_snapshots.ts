/**
 * Snapshots of a work tree before and after a command, so that its file changes can be undone.
 *
 * git stores them in a directory of its own, outside of the project: the index, the objects, the references, the settings
 * and the hooks of the user's repository are neither read nor changed, and the project needs no repository. No setting
 * of the project is used, since a command could have changed it to make git run a program.
 *
 * @module
 */

import { finishAll } from "../../core/ports/finish_all.ts";
import { getRelativePath, isExactPath, join } from "../../platform/paths.ts";
import { PROTECTED_FILES } from "../../platform/secret_places.ts";
import { system } from "../../platform/system.ts";
import { readUntrustedText } from "../../platform/untrusted_file.ts";
import { BLOCKING_CONDITIONS, isBlockingFile } from "../files/blocking_file.ts";
import { toIgnorePattern } from "./ignore_pattern.ts";
import { findHolders, findOlderFiles } from "./older_files.ts";
import {
  CACHES,
  findEntry,
  findGoneFiles,
  groupByDirectory,
  isInCache,
  listIgnoredChanges,
  mayLackFiles,
} from "./omitted_files.ts";
import { PathLocks } from "./path_locks.ts";
import { splitPaths, toText } from "./program_output.ts";
import {
  isContentChange,
  isRemoval,
  isReplacedByLink,
  losesMode,
  parseRawDiff,
  type RawChange,
  REPOSITORY_MODE,
} from "./raw_diff.ts";
import type { OmittedFiles, Snapshot, SnapshotChanges, TakenSnapshot } from "./snapshot.ts";
import {
  type ProgramOptions,
  SnapshotPrograms,
  type SnapshotProgramsOptions,
} from "./snapshot_programs.ts";

/** Larger files are not part of a snapshot. */
const MAX_FILE_BYTES = 20_000_000;

/** Maximum number of attempts to store the files of one snapshot. */
const MAX_ATTEMPTS = 5;

/** Id of a tree without files. */
const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/** Files that are not part of a snapshot, in addition to those in ignore files. */
const EXCLUDED = ["node_modules/", ...CACHES, ""].join("\n");

/** Attributes that keep every byte of a file: no line endings, filters or keywords are converted. */
const ATTRIBUTES = "* -text -filter -ident -working-tree-encoding\n";

/** Options for {@linkcode WorkTreeSnapshots}. */
export interface SnapshotOptions extends SnapshotProgramsOptions {
  /**
   * Lists the canonical paths of the files and directories that commands may not read. A command could read a snapshot, so
   * that they are not part of it.
   */
  readonly listHidden: () => readonly string[];
}

/** Takes snapshots of one directory. Disposing it removes them. */
export class WorkTreeSnapshots implements AsyncDisposable {
  readonly #root: string;
  readonly #parent: string;
  readonly #options: SnapshotOptions;
  readonly #programs: SnapshotPrograms;
  #directory: Promise<string> | undefined;
  readonly #locks = new PathLocks();
  #markerCount = 0;
  /** Id of the last tree. */
  #tree = EMPTY_TREE;
  /** Whether the index may contain nested repositories: a snapshot was interrupted. */
  #isUnchecked = false;
  /** Whether git failed to store the files of the last snapshot. */
  #hasFailed = false;

  /**
   * @param root Canonical path of the directory.
   * @param parent Existing directory for the snapshots, which no command can write.
   */
  constructor(root: string, parent: string, options: SnapshotOptions) {
    this.#root = root;
    this.#parent = parent;
    this.#options = options;
    this.#programs = new SnapshotPrograms(root, options);
  }

  /** Takes a snapshot. @throws {BadRequestError} When git is missing or takes too long. */
  async take(signal: AbortSignal): Promise<Snapshot> {
    // Sub-agents run commands at the same time, and all snapshots have one index.
    return await this.#locks.run(this.#root, () => this.#take(signal));
  }

  async #take(signal: AbortSignal): Promise<Snapshot> {
    const directory = await (this.#directory ??= this.#create(signal));
    // When the last snapshot failed, git may always fail, and each attempt may take seconds.
    const attempts = this.#hasFailed ? 1 : MAX_ATTEMPTS;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const snapshot = await this.#tryTake(directory, signal);
      this.#hasFailed = snapshot === undefined;
      if (snapshot) return snapshot;
    }
    return { type: "refused", reason: "git cannot store the files, which may change meanwhile" };
  }

  /** Takes a snapshot; returns `undefined` if git fails to store the files. */
  async #tryTake(directory: string, signal: AbortSignal): Promise<Snapshot | undefined> {
    const unusual = await this.#findUnusualFiles(signal);
    const [blocking] = unusual.blocking;
    if (blocking !== undefined) {
      return { type: "refused", reason: `${blocking} is not a regular file, or is too large` };
    }
    const marker = join(directory, `marker-${this.#markerCount++}`);
    await system.writeTextFile(marker, "");
    const { large, repositories } = unusual;
    const time = await this.#exclude(directory, unusual, signal);
    if (!await this.#addFiles(directory, signal)) return undefined;
    const [id, listed] = await finishAll([
      this.#writeTree(signal),
      repositories.length === 0 ? this.#git(LIST_IGNORED, { signal }) : undefined,
    ]);
    if (id === undefined) {
      return { type: "refused", reason: "a nested repository has a name that is not UTF-8" };
    }
    const others = listed ? splitPaths(listed) : await this.#listOthers(id, repositories, signal);
    const ignored = others.filter((path) => !large.includes(path) && !isInCache(path));
    return { type: "taken", id, time, omitted: { large, repositories, ignored }, marker };
  }

  /**
   * Lists the files that are not in a tree, next to nested repositories: git would read their files, which may be pipes.
   */
  async #listOthers(
    id: string,
    repositories: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const [found, tree] = await finishAll([
      this.#programs.run("find", FIND_FILES, { signal, maxCode: 1 }),
      this.#git(["ls-tree", "-r", "-z", "--name-only", id], { signal }),
    ]);
    const isInRepository = (path: string) =>
      repositories.some((name) => path.startsWith(`${name}/`));
    const files = splitPaths(found)
      .map((path) => path.replace(/^\.\//, "").replace(/(^|\/)node_modules$/, "$&/"));
    return groupByDirectory(
      files.filter((path) => !isInRepository(path)),
      [...splitPaths(tree), ...repositories],
    );
  }

  /**
   * Adds the files to the index, without those that commands may not read. Returns whether git succeeds: it fails when a file
   * disappears before it is read, such as a temporary file of a watcher or of another agent's command.
   */
  async #addFiles(directory: string, signal: AbortSignal): Promise<boolean> {
    if (this.#isUnchecked) {
      for (const name of ["index", "index.lock"]) {
        await system.remove(join(directory, name)).catch(() => {});
      }
    }
    this.#isUnchecked = true;
    // An ignore file of the project could include a file again, but does not affect these arguments.
    const hidden = this.#options.listHidden().flatMap((path) =>
      getRelativePath(this.#root, path) || []
    );
    const excluded = hidden.map((path) => `:(exclude,top,literal)${path}`);
    const list = ["ls-files", "--modified", "--others", "--exclude-standard", "-z", "--", "."];
    const changed = await this.#git([...list, ...excluded], { signal });
    // Most commands change nothing, and a program with limited rights takes longer to start.
    if (changed.length === 0) return true;
    const add = ["--all", "--ignore-errors", "--", ".", ...excluded];
    return await this.#programs.gitAdd(add, { signal, directory });
  }

  /**
   * Writes a tree and returns its id. Removes nested repositories from the index, which an ignore file of the project can
   * include: the next `git add` would run git in them, with the programs that their settings name. Returns `undefined` if
   * one cannot be named.
   */
  async #writeTree(signal: AbortSignal): Promise<string | undefined> {
    const write = async () => toText(await this.#git(["write-tree"], { signal })).trim();
    let id = await write();
    if (id !== this.#tree) {
      const repositories = (await this.#diff(this.#tree, id, signal))
        .filter(({ newMode }) => newMode === REPOSITORY_MODE).map(({ path }) => path);
      if (!repositories.every(isExactPath)) return undefined;
      if (repositories.length > 0) {
        const input = repositories.map((path) => `${path}\0`).join("");
        await this.#git(["update-index", "--force-remove", "-z", "--stdin"], { signal, input });
        id = await write();
      }
    }
    this.#tree = id;
    this.#isUnchecked = false;
    return id;
  }

  async #diff(before: string, after: string, signal: AbortSignal): Promise<RawChange[]> {
    const args = ["diff-tree", "-r", "-z", "--no-renames", before, after];
    return parseRawDiff(toText(await this.#git(args, { signal })));
  }

  /** Compares two snapshots. */
  async compare(
    before: TakenSnapshot,
    after: TakenSnapshot,
    signal: AbortSignal,
  ): Promise<SnapshotChanges> {
    const gone = await findGoneFiles(this.#root, before.omitted, after.omitted);
    const changed = await this.#findIgnoredChanges(before, after, signal);
    const ignored = listIgnoredChanges(before.omitted, after.omitted, { gone, changed });
    if (before.id === after.id) {
      return { changes: [], older: [], others: [], ignored, directories: new Set() };
    }
    const entries = await this.#diff(before.id, after.id, signal);
    const restorable = entries.filter((entry) => isContentChange(entry) || isReplacedByLink(entry));
    const older = await findOlderFiles(restorable, { root: this.#root, before });
    const files = restorable.filter(({ path }) => !older.has(path));
    const contents = await this.#readBlobs(files, signal);
    const lost = entries.filter((entry) =>
      isRemoval(entry) && !(isExactPath(entry.path) && contents.has(entry.oldId))
    );
    const holders = await findHolders(files, {
      contents,
      lost,
      listBlobs: () => this.#listBlobs(before.id, signal),
      areGone: gone.length + lost.length > 0,
      mayBeGone: mayLackFiles(changed),
    });
    const isKept = ({ path }: RawChange) => holders.has(path);
    return {
      changes: files.flatMap((file) => {
        const [old, current] = [contents.get(file.oldId), contents.get(file.newId)];
        if (old === undefined || current === undefined || isKept(file)) return [];
        const after = isReplacedByLink(file) ? null : current;
        return [{ path: file.path, before: old, after }];
      }),
      older: [...older, ...files.filter(isKept).map(({ path }) => path)].sort(),
      others: entries.filter((entry) =>
        !older.has(entry.path) &&
        (!isContentChange(entry) || losesMode(entry) || !contents.has(entry.oldId) ||
          !contents.has(entry.newId))
      ).map(({ path }) => path),
      ignored,
      directories: await this.#listDirectories(before.id, signal),
    };
  }

  /** Lists the directories in a tree. */
  async #listDirectories(id: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const names = await this.#git(["ls-tree", "-r", "-d", "-z", "--name-only", id], { signal });
    return new Set(toText(names).split("\0"));
  }

  /** Lists the ids of the contents in a tree. */
  async #listBlobs(id: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const tree = toText(await this.#git(["ls-tree", "-r", "-z", id], { signal }));
    return new Set([...tree.matchAll(/ blob ([\da-f]+)\t/g)].map(([, blob = ""]) => blob));
  }

  /** Finds the files outside of snapshots that changed after the earlier one. */
  async #findIgnoredChanges(
    { marker, omitted }: TakenSnapshot,
    after: TakenSnapshot,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const current = new Set(after.omitted.ignored);
    // Of these, single files may be gone.
    const opened = omitted.ignored.filter((path) =>
      path.endsWith("/") && findEntry(path, current) === undefined
    );
    if (current.size === 0) return opened;
    const args = [".", ...SKIP_CACHES, ...FILES_AND_DIRECTORIES, "-cnewer", marker, "-print0"];
    const changed = splitPaths(await this.#programs.run("find", args, { signal, maxCode: 1 }))
      .map((path) => path.replace(/^\.\//, ""));
    return [...opened, ...changed.flatMap((path) => findEntry(path, current) ?? [])];
  }

  async #create(signal: AbortSignal): Promise<string> {
    const directory = join(this.#parent, `snapshots-${crypto.randomUUID()}`);
    try {
      await system.mkdir(directory, { mode: 0o700 });
      await this.#programs.git(["init", "--quiet", "--template="], { signal, directory });
      await system.mkdir(join(directory, "info"), { recursive: true });
      await system.writeTextFile(join(directory, "info", "attributes"), ATTRIBUTES);
      return directory;
    } catch (error) {
      // The next command makes another one.
      this.#directory = undefined;
      await system.remove(directory, { recursive: true }).catch(() => {});
      throw error;
    }
  }

  /**
   * Writes the list of excluded files: those of the user's repository, secrets, and large ones. Returns the time of the file
   * system.
   */
  async #exclude(
    directory: string,
    { large, repositories }: Pick<OmittedFiles, "large" | "repositories">,
    signal: AbortSignal,
  ): Promise<Date | null> {
    const options = { within: this.#root, maxBytes: 1_000_000, signal };
    const ignoreRules = await readUntrustedText(
      join(this.#root, ".git", "info", "exclude"),
      options,
    );
    const omitted = [...large, ...repositories.map((path) => `${path}/`)].map(toIgnorePattern);
    const path = join(directory, "info", "exclude");
    await system.writeTextFile(
      path,
      `${EXCLUDED}${ignoreRules ?? ""}\n${[...PROTECTED_FILES, ...omitted].join("\n")}\n`,
    );
    return (await system.stat(path)).mtime;
  }

  /** Finds the files that a snapshot leaves out, and those that would block git. */
  async #findUnusualFiles(signal: AbortSignal): Promise<UnusualFiles> {
    const isLarge = ["-type", "f", "-size", `+${Math.ceil(MAX_FILE_BYTES / 512)}`];
    const isRead = ["(", "-name", ".gitignore", "-o", "-name", ".gitattributes", ")"];
    const conditions = ["(", ...isLarge, "-o", ...isRead, ...BLOCKING_CONDITIONS, ")"];
    const args = [".", "-name", ".git", "-prune", "-print0", "-o", ...conditions, "-print0"];
    const paths = splitPaths(await this.#programs.run("find", args, { signal, maxCode: 1 }))
      .map((path) => path.replace(/^\.\//, ""));
    const isReadByGit = (path: string) => /(?:^|\/)\.git(?:ignore|attributes)$/.test(path);
    const isRepository = (path: string) => path.endsWith("/.git");
    return {
      large: paths.filter((path) => path !== ".git" && !isReadByGit(path) && !isRepository(path)),
      repositories: paths.filter(isRepository).map((path) => path.slice(0, -"/.git".length)),
      blocking: paths.filter((path) => isReadByGit(path) && isBlockingFile(join(this.#root, path))),
    };
  }

  /** Reads the contents of changed files by their ids; without those beyond the maximum size. */
  async #readBlobs(
    files: readonly RawChange[],
    signal: AbortSignal,
  ): Promise<Map<string, Uint8Array | null>> {
    const ids = [...new Set(files.flatMap(({ oldId, newId }) => [oldId, newId]))];
    const input = ids.filter((id) => !/^0+$/.test(id)).map((id) => `${id}\n`).join("");
    const contents = new Map<string, Uint8Array | null>([["0".repeat(40), null]]);
    if (input === "") return contents;
    const output = await this.#git(["cat-file", "--batch"], { signal, input });
    for (let offset = 0; offset < output.length;) {
      const lineEnd = output.indexOf(0x0a, offset);
      if (lineEnd === -1) break;
      const [id = "", type, size] = toText(output.subarray(offset, lineEnd)).split(" ");
      if (type !== "blob") break;
      const end = lineEnd + 1 + Number(size);
      if (end <= output.length) contents.set(id, output.slice(lineEnd + 1, end));
      offset = end + 1;
    }
    return contents;
  }

  /** Runs git with the directory of the snapshots. */
  async #git(args: readonly string[], options: ProgramOptions): Promise<Uint8Array> {
    return await this.#programs.git(args, { ...options, directory: await this.#directory ?? "" });
  }

  /** Removes the snapshots. */
  async [Symbol.asyncDispose](): Promise<void> {
    const directory = await this.#directory?.catch(() => undefined);
    if (directory !== undefined) await system.remove(directory, { recursive: true });
  }
}

interface UnusualFiles extends Pick<OmittedFiles, "large" | "repositories"> {
  /** Paths of the files that would block git. */
  readonly blocking: readonly string[];
}

/** Lists ignored files that are not part of a snapshot, and directories of only such files. */
const LIST_IGNORED = [
  "ls-files",
  "--others",
  "--ignored",
  "--exclude-standard",
  "--directory",
  "-z",
];

/** Arguments of `find` that skip repositories and caches. */
const SKIP_CACHES = [".git", ...CACHES].flatMap((name) => ["-name", name, "-prune", "-o"]);

/** Arguments of `find` that list the files, and the directories of packages, which are always left out. */
const FIND_FILES = [
  ...[".", ...SKIP_CACHES],
  ...["-name", "node_modules", "-prune", "-print0", "-o"],
  ...["(", "-type", "f", "-o", "-type", "l", ")", "-print0"],
];

/** Arguments of `find` that select files, links and directories. */
const FILES_AND_DIRECTORIES = ["(", "-type", "f", "-o", "-type", "l", "-o", "-type", "d", ")"];
